"""The one place through which every text of a status, a page or a comparison goes."""

from functools import lru_cache
from typing import Any

from rx_tools.evidence.secrets import redact


@lru_cache(maxsize=16384)
def clean(text: str) -> str:
    """The text without credentials and without control characters that could move a cursor."""
    return "".join(one if one.isprintable() or one == "\n" else "\ufffd" for one in redact(text))


def clean_value(value: Any) -> Any:
    """A JSON value with every string in it cleaned, keys included."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(item) for item in value]
    return value
