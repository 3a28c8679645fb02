"""Credentials of this process and what looks like one: found before anything leaves it.

The search itself is pure and lies in `model.secrets`; here the environment supplies the values.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from rx_tools.errors import IntegrityError
from rx_tools.model import secrets
from rx_tools.model.secrets import SHORTEST, SecretHit

NAMED_LIKE_A_SECRET = re.compile(
    r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(_ID|_SECRET)?\Z", re.IGNORECASE
)


def scan(data: bytes, known: Mapping[str, str] | None = None) -> list[SecretHit]:
    """Every credential in the bytes and in the strings that they encode, in order.

    `known` maps names of variables to their values; by default those of the environment.
    """
    return secrets.scan(data, environment_secrets(os.environ) if known is None else known)


def redact(text: str, known: Mapping[str, str] | None = None) -> str:
    """The text with every credential replaced by the name of its rule."""
    return secrets.redact(text, environment_secrets(os.environ) if known is None else known)


def refuse_secrets(name: str, data: bytes) -> None:
    """Raise `IntegrityError` when a file holds a credential; the message shows none of it."""
    hits = scan(data)
    if hits:
        more = f" (and {len(hits) - 1} more)" if len(hits) > 1 else ""
        hint = "remove it and publish again; scripts read credentials from the environment"
        raise IntegrityError(f"{name} holds a secret: {hits[0]}{more}", hint=hint)


def redacted(document: dict[str, Any]) -> dict[str, Any]:
    """The same document, without the strings that are credentials, alone or by their key."""
    text = json.dumps(document, default=str)
    if redact(text) == text:
        return document
    return {key: _without(key, value) for key, value in document.items()}


def _without(key: str, value: Any) -> Any:
    match value:
        case dict():
            return {inner: _without(str(inner), member) for inner, member in value.items()}
        case list() | tuple():
            return [_without(key, member) for member in value]
        case str() if scan(json.dumps({key: value}).encode()):
            return "[redacted]"
        case _:
            return value


def environment_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are named like credentials and hold something that could be one."""
    return {
        name: value
        for name, value in environment.items()
        if NAMED_LIKE_A_SECRET.search(name) and len(value) >= SHORTEST and not value.startswith("/")
    }
