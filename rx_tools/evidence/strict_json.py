"""What two readers could understand differently is refused while a document is read.

**What.** Refused, each with its line and column: duplicate keys, NaN and the infinities, numbers
that no double can hold, nesting deeper than 64, a byte-order mark, invalid UTF-8, lone surrogates,
an empty document, data after the document, and what is no readable file.

**Why.** Most parsers keep the last of two equal keys and turn `1e400` into infinity; a rule that
reads such a document judges something else than what was written.

**Fix.** Go to the line and column, and write the value once, as plain UTF-8 JSON. A number that is
not finite was not measured: leave it out and say why.

**Source.** RFC 8259, section 4 and 6 to 8; faults reported against JSON readers in public.
"""

import hashlib
import json
import math
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from rx_tools.errors import DocumentError, ExitCode
from rx_tools.evidence.json_places import Place, offset_of, places
from rx_tools.model.depth import DEPTH_LIMIT, deeper_than
from rx_tools.model.json_path import ROOT, parent
from rx_tools.model.names import Sha256

CODES: Mapping[str, str] = {
    "RX001": "the bytes are not UTF-8 without a byte-order mark",
    "RX002": "a key stands twice in one object",
    "RX003": "a number is not finite",
    "RX004": "lists and objects are nested too deep",
    "RX005": "the text is not one JSON document",
    "RX006": "a text holds half of a surrogate pair",
    "RX007": "there is no such file, or it cannot be read as one",
}

LONGEST_INTEGER = 308
FEW_PATHS = 20
"""Beyond so many look-ups one scan of the whole text is quicker."""
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class UnreadableError(DocumentError):
    """A document that the strict reader refuses; `line` and `column` count from 1 (0: no place)."""

    def __init__(
        self, code: str, what: str, *, name: str, place: tuple[int, int] = (0, 0), hint: str = ""
    ) -> None:
        self.code, self.name = code, name
        self.line, self.column = place
        super().__init__(
            what, where=f"{name}:{place[0]}:{place[1]}" if place[0] else name, hint=hint
        )


class MissingFileError(UnreadableError):
    """There is no such file, or it is none that can be read."""

    exit_code = ExitCode.USAGE


@dataclass(frozen=True)
class Document:
    """A document as it was read: its name, its value and its exact text."""

    name: str
    value: Any
    text: str

    @cached_property
    def sha256(self) -> Sha256:
        """The digest of the bytes that were read."""
        return Sha256(hashlib.sha256(self.text.encode()).hexdigest())

    @cached_property
    def _found(self) -> dict[str, int | None]:
        return {}

    def _offset(self, json_path: str) -> int | None:
        if json_path not in self._found and len(self._found) < FEW_PATHS:
            self._found[json_path] = offset_of(self.text, json_path)
        if json_path in self._found:
            return self._found[json_path]
        return self._offsets.get(json_path)

    @cached_property
    def _offsets(self) -> dict[str, int]:
        return {place.path: place.start for place in places(self.text)}

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(end.end() for end in re.finditer("\n", self.text))]

    def position(self, json_path: str) -> tuple[int, int]:
        """Line and column, from 1, of the value at a path, or of its nearest present parent."""
        offset = self._offset(json_path)
        while offset is None and json_path != ROOT:
            json_path = parent(json_path)
            offset = self._offset(json_path)
        offset = offset or 0
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


class _RefusedError(Exception):
    """Something in the document is not allowed; where exactly, the slow scan finds out."""


def read_document(path: Path | str) -> Document:
    """Read one JSON file strictly; raises `UnreadableError`, and `OSError` from a failing disk."""
    path = Path(path)
    return parse_document(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file or a pipe; everything else is refused by name."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError("RX007", "no such file", name=str(path)) from None
    except ValueError:
        raise MissingFileError("RX007", "no usable file name", name=repr(str(path))) from None
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        kind = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise MissingFileError("RX007", f"{kind}, where a JSON file was expected", name=str(path))
    return path.read_bytes()


def parse_document(data: bytes, name: str) -> Document:
    """Parse bytes strictly; raises `UnreadableError` naming the line and the column."""
    text = decode(data, name)
    if not text.strip(" \t\r\n"):
        raise UnreadableError("RX005", "the document is empty", name=name, place=(1, 1))
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_moderate,
        )
    except json.JSONDecodeError as error:
        explain_depth(text, name)
        place = line_and_column(text, error.pos)
        hint = "one document a file" if error.msg == "Extra data" else ""
        what = f"not JSON: {error.msg}"
        raise UnreadableError("RX005", what, name=name, place=place, hint=hint) from None
    except (_RefusedError, RecursionError):
        explain(text, name)
    if deeper_than(value, DEPTH_LIMIT) or has_lone_surrogate(text, value):
        explain(text, name)
    return Document(name, value, text)


def decode(data: bytes, name: str) -> str:
    """UTF-8 without a byte-order mark, or an error at the first wrong byte."""
    if data.startswith(b"\xef\xbb\xbf"):
        hint = "save the file as UTF-8 without a byte-order mark"
        raise UnreadableError("RX001", "a byte-order mark", name=name, place=(1, 1), hint=hint)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        place = line_and_column(before, len(before))
        what = f"invalid UTF-8: byte 0x{data[error.start]:02x}"
        hint = "save the file as UTF-8"
        raise UnreadableError("RX001", what, name=name, place=place, hint=hint) from None


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1; only a line feed ends a line."""
    before = text.rfind("\n", 0, offset)
    return text.count("\n", 0, offset) + 1, offset - before


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    raise _RefusedError


def _no_constant(_: str) -> NoReturn:
    raise _RefusedError


def _finite(literal: str) -> float:
    number = float(literal)
    if math.isfinite(number):
        return number
    raise _RefusedError


def _moderate(literal: str) -> int:
    if len(literal) <= LONGEST_INTEGER:
        return int(literal)
    raise _RefusedError


def has_lone_surrogate(text: str, value: object) -> bool:
    """Whether an escape such as `\\ud800` stands without its other half."""
    if not SURROGATE_ESCAPE.search(text):
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def explain(text: str, name: str) -> NoReturn:
    """Find the first thing that is refused, and say where it is."""
    explain_depth(text, name)
    seen: dict[str, Place] = {}
    for place in places(text):
        for problem in (_duplicate(seen.get(place.path), text), _number(text), _surrogate(text)):
            problem(place, name)
        seen[place.path] = place
    raise UnreadableError("RX005", "not JSON", name=name, place=(1, 1))


def explain_depth(text: str, name: str) -> None:
    """Raise if the nesting is too deep; return otherwise."""
    deep = next((place for place in places(text) if place.depth > DEPTH_LIMIT), None)
    if deep is None:
        return
    what = f"nested deeper than {DEPTH_LIMIT} levels"
    raise UnreadableError("RX004", what, name=name, place=line_and_column(text, deep.start))


Problem = Callable[[Place, str], None]


def _duplicate(first: Place | None, text: str) -> Problem:
    def problem(place: Place, name: str) -> None:
        if first is None or place.key_start is None or first.key_start is None:
            return
        line, column = line_and_column(text, first.key_start)
        what = f"duplicate key {place.path} (first at line {line}, column {column})"
        again = line_and_column(text, place.key_start)
        raise UnreadableError("RX002", what, name=name, place=again, hint="keep one of the two")

    return problem


def _number(text: str) -> Problem:
    def problem(place: Place, name: str) -> None:
        literal = place.literal(text)
        if not _is_too_large(literal):
            return
        shown = literal if len(literal) <= 20 else f"{literal[:17]}..."
        what = f"{shown} at {place.path} is no finite number"
        raise UnreadableError("RX003", what, name=name, place=line_and_column(text, place.start))

    return problem


def _is_too_large(literal: str) -> bool:
    if literal in ("NaN", "Infinity", "-Infinity"):
        return True
    if not literal[:1].isdigit() and literal[:1] != "-":
        return False
    if literal.lstrip("-").isdigit():
        return len(literal) > LONGEST_INTEGER
    try:
        return not math.isfinite(float(literal))
    except ValueError:
        return False


def _surrogate(text: str) -> Problem:
    def problem(place: Place, name: str) -> None:
        starts = [place.start] if place.key_start is None else [place.key_start, place.start]
        for start in starts:
            if text[start] != '"' or not _lone(text, start):
                continue
            what = (
                f"a lone surrogate in the text at {place.path.encode('utf-8', 'replace').decode()}"
            )
            raise UnreadableError("RX006", what, name=name, place=line_and_column(text, start))

    return problem


def _lone(text: str, start: int) -> bool:
    value, _ = json.JSONDecoder().raw_decode(text, start)
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False
