"""How deep a document may be nested, and what becomes of a deeper one."""

from collections.abc import Iterable
from typing import Any, TypeAlias

DEPTH_LIMIT = 64
Nest: TypeAlias = dict[str, Any] | list[Any]


def deeper_than(value: object, limit: int) -> bool:
    """Whether lists and objects are nested deeper than `limit`, without recursion."""
    level = nests([value])
    for _ in range(limit):
        if not level:
            return False
        level = [inner for outer in level for inner in nests(inside(outer))]
    return bool(level)


def nests(values: Iterable[object]) -> list[Nest]:
    """The objects and lists among the values."""
    return [value for value in values if isinstance(value, (dict, list))]


def inside(value: Nest) -> Iterable[object]:
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
