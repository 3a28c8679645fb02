"""Single faults, generated systematically over every place of a document."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
HEX = set("0123456789abcdef")


@dataclass(frozen=True)
class Mutation:
    """One fault: what was done, where, and the document that results."""

    operation: str
    path: Path
    document: Any

    @property
    def name(self) -> str:
        return f"{self.operation} {'.'.join(map(str, self.path))}"


def spots(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place below the root, with its value."""
    if isinstance(value, dict):
        members = value.items()
    else:
        members = enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield (*path, key), inner
        yield from spots(inner, (*path, key))


def replaced(value: Any, path: Path, new: Any) -> Any:
    """The document with another value at a path; the rest is shared."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def without(value: Any, path: Path) -> Any:
    """The document without the member or element at a path."""
    parent = at(value, path[:-1])
    if isinstance(parent, dict):
        rest: Any = {key: inner for key, inner in parent.items() if key != path[-1]}
    else:
        rest = [inner for index, inner in enumerate(parent) if index != path[-1]]
    return replaced(value, path[:-1], rest)


def renamed(value: Any, path: Path) -> Any:
    """The document with a misspelt key; the order of the members stays."""
    parent = at(value, path[:-1])
    names = {key: f"{key}_" if key == path[-1] else key for key in parent}
    return replaced(value, path[:-1], {names[key]: inner for key, inner in parent.items()})


def is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= HEX


def other_values(value: Any, arms: list[str]) -> Iterator[tuple[str, Any]]:
    """What may stand in place of a value: other types, other values of the same type."""
    match value:
        case bool():
            yield from (("flip", not value), ("retype", int(value)), ("retype", str(value)))
        case int() | float():
            yield from (("off-by-one", value + 1), ("retype", str(value)), ("nan", math.nan))
            yield from (("infinite", math.inf), ("negate", -value - 1), ("truth", True))
        case str() if is_digest(value):
            flipped = "0" if value[-1] != "0" else "1"
            yield from (("off-by-one hash", value[:-1] + flipped), ("upper", value.upper()))
            yield from (("short hash", value[:-1]), ("newline", value + "\n"))
        case str():
            yield from (("other text", f"{value}-x"), ("blank", ""), ("retype", 7))
            if value in arms:
                yield "wrong arm", next(arm for arm in arms if arm != value)
        case list():
            yield from (("retype", {}), ("empty", []))
            if value:
                yield from (("doubled", [*value, value[0]]), ("cut", value[:-1]))
        case dict():
            yield from (("retype", []), ("empty", {}))
    yield "null", None


def mutations(document: Any, arms: list[str]) -> Iterator[Mutation]:
    """Every single fault on every place: dropped, renamed, replaced."""
    for path, value in spots(document):
        yield Mutation("drop", path, without(document, path))
        if isinstance(path[-1], str):
            yield Mutation("rename", path, renamed(document, path))
        for operation, new in other_values(value, arms):
            if not (new == value and type(new) is type(value)):
                yield Mutation(operation, path, replaced(document, path, new))
