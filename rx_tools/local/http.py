"""Requests and responses as plain values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rx_tools.local.refusals import HttpRefusalError

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived; `path` without the query, header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    host: str = ""
    """The address under which the client reached the server, `http://host:port`."""
    parts: tuple[str, ...] = ()
    """What the route's wildcards matched."""

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; anything else is a 400."""
        try:
            found = json.loads(self.body or b"{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise HttpRefusalError(400, f"the body is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise HttpRefusalError(400, "the body must be a JSON object")
        return found


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered."""

    body: bytes = b"{}"
    status: int = 200
    media_type: str = JSON_TYPE
    headers: Mapping[str, str] = field(default_factory=dict)


def answer(value: object, status: int = 200) -> Response:
    """A JSON response."""
    return Response(json.dumps(value, allow_nan=False).encode(), status)


def refusal(error: HttpRefusalError) -> Response:
    """An error response with its sentence under `detail` and `error`."""
    content = json.dumps({"detail": error.sentence, "error": error.sentence})
    return Response(content.encode(), error.status, headers=error.headers)


def text(body: Mapping[str, Any], name: str) -> str:
    """A required string of a JSON body."""
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise HttpRefusalError(400, f"{name} must be a non-empty string")
    return value


def whole(body: Mapping[str, Any], name: str, *, least: int = 0) -> int:
    """A required whole number of a JSON body, from `least` to 2³¹ − 1."""
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 31:
        raise HttpRefusalError(400, f"{name} must be a whole number from {least}")
    return value


def natural(digits: str, *, status: int = 422) -> int:
    """A number of at most 15 plain digits; anything else is refused with `status`."""
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 15:
        raise HttpRefusalError(status, f"{digits[:20]!r} is not a whole number from 0")
    return int(digits)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not allowed")
