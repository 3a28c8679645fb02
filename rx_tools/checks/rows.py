"""Rows of a retained JSONL file. Lines end at a line feed and nowhere else."""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.deciding.observation_rows import strictly
from rx_tools.model.evidence import EvidenceFile

Row = Mapping[str, Any]


class RowError(ValueError):
    """A line that is no JSON object; the message names the line."""


def rows_of(file: EvidenceFile) -> list[Row]:
    """The rows of a file; raises `RowError` at the first line that is none."""
    return list(parse(file.name, file.read()))


def parse(name: str, content: bytes) -> Iterator[Row]:
    """One strictly read JSON object per line; empty lines are left out."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = strictly(line)
        except ValueError as error:
            raise RowError(f"{name}: line {number} is no JSON object: {error}") from None
        if not isinstance(row, dict):
            raise RowError(f"{name}: line {number} is no JSON object")
        yield row
