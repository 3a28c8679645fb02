"""How deep a document may be nested, and what becomes of a deeper one."""

from collections.abc import Iterable

DEPTH_LIMIT = 64


def deeper_than(value: object, limit: int) -> bool:
    """Whether lists and objects are nested deeper than `limit`, without recursion."""
    level: list[object] = [value]
    for _ in range(limit):
        level = [inner for outer in level for inner in inside(outer)]
        if not level:
            return False
    return any(isinstance(inner, dict | list) for inner in level)


def inside(value: object) -> Iterable[object]:
    """The members of an object or the elements of a list."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


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
