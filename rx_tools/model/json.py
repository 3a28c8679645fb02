"""Safe ways into documents of unknown shape."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

JsonObject: TypeAlias = Mapping[str, Any]

LARGEST_DOUBLE = sys.float_info.max


def is_number(value: object) -> TypeGuard[int | float]:
    """A finite number that a double can hold; `true` is none here, whatever Python says."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST_DOUBLE


def is_integer(value: object) -> TypeGuard[int]:
    """An integer; neither `true` nor `3.0`."""
    return isinstance(value, int) and not isinstance(value, bool)


def as_object(value: object) -> JsonObject:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> Sequence[Any]:
    """The value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def as_text(value: object) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""
