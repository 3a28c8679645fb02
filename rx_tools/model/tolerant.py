"""Typed readings of members that may be absent or of the wrong type."""

from collections.abc import Mapping
from typing import Any

from rx_tools.model.json import is_integer, is_number


def text_or_none(value: object) -> str | None:
    """The value if it is a string."""
    return value if isinstance(value, str) else None


def flag_or_none(value: object) -> bool | None:
    """The value if it is a boolean."""
    return value if isinstance(value, bool) else None


def number_or_none(value: object) -> float | None:
    """The value as a double if it is a finite number."""
    return float(value) if is_number(value) else None


def integer_or_none(value: object) -> int | None:
    """The value if it is an integer."""
    return value if is_integer(value) else None


def numbers_of(value: object) -> tuple[float, ...]:
    """The finite numbers among the elements of a list."""
    return (
        tuple(float(item) for item in value if is_number(item)) if isinstance(value, list) else ()
    )


def integers_of(value: object) -> tuple[int, ...]:
    """The integers among the elements of a list."""
    return tuple(item for item in value if is_integer(item)) if isinstance(value, list) else ()


def texts_of(value: object) -> tuple[str, ...]:
    """The strings among the elements of a list."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def objects_of(value: object) -> tuple[Mapping[str, Any], ...]:
    """The objects among the elements of a list."""
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, Mapping))
