"""Where each value of a JSON text stands: a scan that needs no recursion and never fails."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rx_tools.model.json_path import ROOT, child, steps_of

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
BLANKS = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()
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


def offset_of(text: str, path: str) -> int | None:
    """Where the value at a path starts in a valid JSON text, `None` if there is none.

    Quicker than all `places` for a few paths: siblings are skipped by the C scanner.
    """
    position = after_blanks(text, 0)
    for step in steps_of(path):
        inside = element if isinstance(step, int) else member
        found = inside(text, position, step)
        if found is None:
            return None
        position = found
    return position


def after_blanks(text: str, position: int) -> int:
    """The offset of the next character that is no blank."""
    match = BLANKS.match(text, position)
    return match.end() if match else position


def member(text: str, start: int, key: str | int) -> int | None:
    """Where the value of a member of the object at `start` begins."""
    if text[start] != "{":
        return None
    position = after_blanks(text, start + 1)
    while text[position] != "}":
        name, end = DECODER.raw_decode(text, position)
        position = after_blanks(text, after_blanks(text, end) + 1)
        if name == key:
            return position
        position = after_value(text, position)
    return None


def element(text: str, start: int, index: str | int) -> int | None:
    """Where an element of the list at `start` begins."""
    if text[start] != "[":
        return None
    position, passed = after_blanks(text, start + 1), 0
    while text[position] != "]":
        if passed == index:
            return position
        position, passed = after_value(text, position), passed + 1
    return None


def after_value(text: str, start: int) -> int:
    """The offset of what follows a value and its comma, if there is one."""
    position = after_blanks(text, DECODER.raw_decode(text, start)[1])
    return after_blanks(text, position + 1) if text[position] == "," else position
