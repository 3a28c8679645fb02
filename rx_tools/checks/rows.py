"""Rows of a retained JSONL file. Lines end at a line feed and nowhere else."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from rx_tools.model.evidence import EvidenceFile

Row = Mapping[str, Any]


class RowError(ValueError):
    """A line that is no JSON object; the message names the line."""


def rows_of(file: EvidenceFile) -> list[Row]:
    """The rows of a file; raises `RowError` at the first line that is none."""
    return list(parse(file.name, file.read()))


def parse(name: str, content: bytes) -> Iterator[Row]:
    """One JSON object per line, empty lines left out; non-finite and repeated keys are refused."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(
                line.decode(),
                parse_constant=refuse,
                parse_float=finite,
                object_pairs_hook=without_repeats,
            )
        except (ValueError, RecursionError) as error:
            raise RowError(f"{name}: line {number} is no JSON object: {error}") from None
        if not isinstance(row, dict):
            raise RowError(f"{name}: line {number} is no JSON object")
        yield row


def refuse(word: str) -> NoReturn:
    """NaN and the infinities are no JSON."""
    raise ValueError(f"{word} is no JSON number")


def finite(text: str) -> float:
    """A number that a double can hold."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is larger than any double")
    return value


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found
