"""Where each value of a JSON text stands: a scan that needs no recursion and never fails."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rx_tools.model.json_path import ROOT, child

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
ATOM = re.compile(r'[^\s{}\[\]:,"]+')


@dataclass(frozen=True, slots=True)
class Place:
    """One value: its path, the offset where it starts, its key's offset, how deep it is nested.

    The depth of a scalar is that of the list or object around it; an opening bracket counts.
    """

    path: str
    start: int
    key_start: int | None
    depth: int

    def literal(self, text: str) -> str:
        """The number or word that stands here; empty for strings, lists and objects."""
        match = ATOM.match(text, self.start)
        return match.group() if match else ""


@dataclass(slots=True)
class _Open:
    path: str
    is_object: bool
    index: int = 0
    key: str | None = None
    key_start: int | None = None


@dataclass(slots=True)
class _Scan:
    stack: list[_Open] = field(default_factory=list)

    def place(self, start: int, opens: bool) -> Place:
        depth = len(self.stack) + opens
        if not self.stack:
            return Place(ROOT, start, None, depth)
        top = self.stack[-1]
        key: str | int = (top.key or "") if top.is_object else top.index
        return Place(child(top.path, key), start, top.key_start, depth)


def places(text: str) -> Iterator[Place]:
    """Every value of a JSON text in order; on malformed text, what can be told of it."""
    scan = _Scan()
    for token in TOKEN.finditer(text):
        first, start = token.group()[0], token.start()
        top = scan.stack[-1] if scan.stack else None
        if first in "{[":
            place = scan.place(start, opens=True)
            yield place
            scan.stack.append(_Open(place.path, first == "{"))
        elif first in "}]":
            scan.stack[-1:] = []
        elif first == ",":
            _next(top)
        elif first == '"' and top is not None and top.is_object and top.key is None:
            top.key, top.key_start = _text(token.group()), start
        elif first != ":":
            yield scan.place(start, opens=False)


def _next(top: _Open | None) -> None:
    if top is not None:
        top.index, top.key, top.key_start = top.index + 1, None, None


def _text(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return literal
