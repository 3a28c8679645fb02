"""Observation rows from bytes: JSON Lines, one array, or an object with `observations`.

Strict: UTF-8 without a byte-order mark, lines ended by line feeds only, no repeated key, no number
that a double cannot hold, at most 10 MiB and 100,000 rows.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from rx_tools.checks.deciding.issues import Issue

if TYPE_CHECKING:
    from rx_tools.checks.deciding.typed_rows import TypedRows

MAX_BYTES = 10 * 1024 * 1024
MAX_ROWS = 100_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_INTEGER = 308


@dataclass(frozen=True)
class ObservationRows:
    """The bytes of the rows, parsed when asked for: fast where all is well, else line by line."""

    data: bytes

    @cached_property
    def typed(self) -> "TypedRows | None":
        """The rows as typed values; None if any of them needs a closer look."""
        from rx_tools.checks.deciding.typed_rows import typed_rows

        return None if too_large(len(self.data)) else typed_rows(self.data)

    @cached_property
    def documents(self) -> tuple[list[tuple[str, Any]], tuple[Issue, ...]]:
        """Every row with its place, and what made bytes or lines unreadable."""
        return read_slowly(self.data)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What makes the file as a whole unusable."""
        if self.typed is not None:
            return tuple(number_issues(self.typed.n))
        rows, issues = self.documents
        return (*issues, *number_issues(len(rows)))


def too_large(n_bytes: int) -> bool:
    """Whether the rows exceed the contract's size."""
    return n_bytes > MAX_BYTES


def size_issues(n_bytes: int) -> Iterator[Issue]:
    """The limit of 10 MiB, with the arithmetic."""
    if too_large(n_bytes):
        over = n_bytes - MAX_BYTES
        text = f"The observations have {n_bytes} bytes, {over} more than the {MAX_BYTES} allowed."
        yield Issue("OBSERVATIONS_TOO_LARGE", text)


def number_issues(n_rows: int) -> Iterator[Issue]:
    """The limit of 100,000 rows."""
    if n_rows > MAX_ROWS:
        text = f"There are {n_rows} rows, {n_rows - MAX_ROWS} more than the {MAX_ROWS} allowed."
        yield Issue("OBSERVATIONS_TOO_MANY", text)


def read_slowly(data: bytes) -> tuple[list[tuple[str, Any]], tuple[Issue, ...]]:
    """Rows with their places, and every unreadable line."""
    issues = [*size_issues(len(data))]
    if issues:
        return [], tuple(issues)
    if data.startswith(BYTE_ORDER_MARK):
        return [], (unreadable("line 1", "a byte-order mark"),)
    whole = as_one_document(data)
    if isinstance(whole, Issue):
        return [], (whole,)
    if whole is not None:
        return [(f"row {number}", row) for number, row in enumerate(whole, 1)], ()
    return read_lines(data)


def read_lines(data: bytes) -> tuple[list[tuple[str, Any]], tuple[Issue, ...]]:
    """JSON Lines; blank lines say nothing."""
    rows: list[tuple[str, Any]] = []
    issues: list[Issue] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip(b" \t\r"):
            continue
        place = f"line {number}"
        try:
            rows.append((place, strictly(line)))
        except ValueError as error:
            issues.append(unreadable(place, str(error)))
    return rows, tuple(issues)


def as_one_document(data: bytes) -> list[Any] | Issue | None:
    """The rows of an array, or of an object that spans the file; None for JSON Lines."""
    text = data.strip(b" \t\r\n")
    first = text[:1]
    if first == b"{" and not spans_lines_or_wraps(text):
        return None
    if first not in (b"[", b"{"):
        return None
    try:
        document = strictly(data)
    except ValueError as error:
        return unreadable("the document", str(error)) if first == b"[" else None
    if isinstance(document, list):
        return document
    rows = document.get("observations")
    if isinstance(rows, list):
        return rows
    return None if "item_id" in document else unreadable("the document", "no list `observations`")


def spans_lines_or_wraps(text: bytes) -> bool:
    """Whether the first line alone is no complete row."""
    try:
        first = strictly(text.split(b"\n", 1)[0])
    except ValueError:
        return True
    return "observations" in first and "item_id" not in first


def strictly(data: bytes) -> Any:
    """One JSON value; raises `ValueError` with a short reason."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"invalid UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(
            text,
            object_pairs_hook=single_keys,
            parse_constant=refused,
            parse_float=finite_float,
            parse_int=moderate,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    if "\\ud" in text or "\\uD" in text:
        refuse_lone_surrogates(value)
    return value


def single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key is repeated."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    keys = [key for key, _ in pairs]
    repeated = next(key for key in keys if keys.count(key) > 1)
    positions = [str(number) for number, key in enumerate(keys, 1) if key == repeated]
    raise ValueError(f"duplicate key {repeated!r} (members {' and '.join(positions)})")


def refused(word: str) -> NoReturn:
    """NaN and the infinities are no JSON."""
    raise ValueError(f"{word} is no JSON number")


def finite_float(literal: str) -> float:
    """A number that a double can hold."""
    number = float(literal)
    if number - number == 0:
        return number
    raise ValueError(f"{literal[:20]} is too large for a double")


def moderate(literal: str) -> int:
    """An integer that a double can hold."""
    if len(literal) <= LONGEST_INTEGER:
        return int(literal)
    raise ValueError(f"an integer of {len(literal)} digits is too large for a double")


def refuse_lone_surrogates(value: object) -> None:
    """An escape such as `\\ud800` without its other half is no text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a lone surrogate") from None


def unreadable(place: str, why: str) -> Issue:
    """An issue with bytes that are no rows."""
    return Issue("OBSERVATIONS_UNREADABLE", f"{place}: {why}.", place)
