"""How deep a document may be nested, and what becomes of a deeper one."""

from collections.abc import Collection
from typing import Any, TypeAlias

DEPTH_LIMIT = 64
SCALARS = frozenset({str, int, float, bool, type(None)})
Nest: TypeAlias = dict[str, Any] | list[Any]


def deeper_than(value: object, limit: int) -> bool:
    """Whether lists and objects are nested deeper than `limit`, without recursion."""
    level = nests([value])
    for _ in range(limit):
        if not level:
            return False
        level = [inner for outer in level for inner in nests(inside(outer))]
    return bool(level)


def nests(values: Collection[object]) -> list[Nest]:
    """The objects and lists among the values."""
    if is_flat(values):
        return []
    return [value for value in values if isinstance(value, dict | list)]


def is_flat(values: Collection[object]) -> bool:
    """Whether there are only texts, numbers, booleans and nulls: quick for long lists of ids."""
    return SCALARS.issuperset(map(type, values))


def inside(value: Nest) -> Collection[object]:
    """The members of an object or the elements of a list."""
    return value.values() if isinstance(value, dict) else value


def shallow(value: object) -> object:
    """The value itself; of a document nested too deep, a copy in which the deepest is null."""
    return pruned(value, DEPTH_LIMIT) if deeper_than(value, DEPTH_LIMIT) else value


def pruned(value: object, levels: int) -> object:
    """A copy of so many levels; what lies below is null."""
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return None
    if isinstance(value, dict):
        return {key: pruned(item, levels - 1) for key, item in value.items()}
    return [pruned(item, levels - 1) for item in value]
