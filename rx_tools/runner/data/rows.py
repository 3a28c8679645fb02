"""Reading chat rows strictly: every refusal names the file and the line or the row."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from rx_tools.errors import DocumentError, UsageError
from rx_tools.evidence.strict_json import UnreadableError, parse_document
from rx_tools.runner.data.chats import NoRowError, Row, RowId, row_from


def jsonl_rows(content: bytes, name: str) -> Iterator[Row]:
    """The rows of a JSONL file; only the byte `\\n` ends a line, so U+2028 may stand in a text.

    Raises `DocumentError` at the first line that is empty, no strict JSON, or no chat.
    """
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        yield _row(_value(line, name, number), f"{name}:{number}")


def column_rows(values: Iterable[Any], name: str) -> Iterator[Row]:
    """The rows of an already parsed table; errors count its rows from 1."""
    for number, value in enumerate(values, 1):
        yield _row(value, f"{name} row {number}")


def parquet_rows(content: bytes, name: str) -> Iterator[Row]:
    """The rows of a parquet file, through `pyarrow` (part of the `run` extra)."""
    try:
        from pyarrow import ArrowException, BufferReader, parquet
    except ImportError as error:
        raise UsageError(
            "parquet files need pyarrow", where=name, hint="pip install 'rx-tools[run]'"
        ) from error
    try:
        values = parquet.read_table(BufferReader(content)).to_pylist()
    except (ArrowException, ValueError) as error:
        raise DocumentError(f"no readable parquet file: {error}", where=name) from error
    return column_rows(values, name)


def distinct(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows with distinct ids: a repeated id gets `#2`, `#3` … in order of appearance."""
    taken: set[str] = set()
    for row in rows:
        row_id, again = row.row_id, 2
        while row_id in taken:
            row_id, again = RowId(f"{row.row_id}#{again}"), again + 1
        taken.add(row_id)
        yield row if row_id == row.row_id else replace(row, row_id=row_id)


def _value(line: bytes, name: str, number: int) -> Any:
    try:
        return parse_document(line, name).value
    except UnreadableError as error:
        what = "an empty line" if not line.strip() else error.what
        raise UnreadableError(
            error.code, what, name=name, place=(number, max(error.column, 1)), hint=error.hint
        ) from None


def _row(value: Any, where: str) -> Row:
    try:
        return row_from(value)
    except NoRowError as error:
        raise DocumentError(str(error), where=where) from None
