"""JSON as bytes that do not depend on who wrote them."""

import json
from typing import Any

from rx_tools.errors import DocumentError


def compact(value: Any) -> bytes:
    """One line: sorted keys, no spaces, ASCII only (the recipe of ledger lines and evaluator ids).

    Raises `DocumentError` for NaN, infinities, keys that are no strings, lone surrogates and
    anything that JSON cannot say.
    """
    return encode(value, separators=(",", ":"))


def document(value: Any) -> bytes:
    """The same, indented for people and ending with a newline: how `rx` publishes documents."""
    return encode(value, indent=2) + b"\n"


def encode(value: Any, **layout: Any) -> bytes:
    """Serialize with sorted keys in ASCII; what JSON cannot say exactly is refused."""
    try:
        refuse_inexact(value)
        text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, **layout)
    except RecursionError as error:
        raise DocumentError("cannot be written as JSON: nested too deeply") from error
    except (TypeError, ValueError) as error:
        raise DocumentError(f"cannot be written as JSON: {error}") from error
    return text.encode("ascii")


def refuse_inexact(value: Any) -> None:
    """Raise `ValueError` for keys that `json` would turn into strings, and for lone surrogates."""
    match value:
        case str():
            refuse_surrogates(value)
        case dict():
            for key, member in value.items():
                if not isinstance(key, str):
                    raise ValueError(f"the key {key!r} is not a string")
                refuse_surrogates(key)
                refuse_inexact(member)
        case list() | tuple():
            for member in value:
                refuse_inexact(member)


def refuse_surrogates(text: str) -> None:
    """Raise `ValueError` when the text cannot be encoded as UTF-8."""
    if not text.isascii():
        text.encode("utf-8")
