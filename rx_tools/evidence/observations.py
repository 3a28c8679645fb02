"""Observation files: read once, hashed as they were read; written within the contract's limits."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.observation_rows import (
    MAX_BYTES,
    MAX_ROWS,
    ObservationRows,
    size_issues,
    too_large,
)
from rx_tools.errors import DocumentError, IntegrityError
from rx_tools.model.names import Sha256

CROSS_CHECK = 1e-12
"""How far a mean of rows may be, relatively, from the loss record's token mean."""


@dataclass(frozen=True, slots=True)
class ObservationFile:
    """A file of rows. `rows` is None where the file is too large to be read; `issues` say so."""

    name: str
    size: int
    sha256: Sha256 | None
    rows: ObservationRows | None
    issues: tuple[Issue, ...] = ()


def read_observation_file(path: Path) -> ObservationFile:
    """Read and hash a file of rows. Never more than the allowed bytes are read."""
    regular = path.is_file()
    known = path.stat().st_size if regular else 0
    data = path.read_bytes() if regular and not too_large(known) else read_limited(path)
    size = max(len(data), known)
    issues = tuple(size_issues(size))
    if issues:
        return ObservationFile(path.name, size, None, None, issues)
    digest = Sha256(hashlib.sha256(data).hexdigest())
    rows = ObservationRows(data)
    return ObservationFile(path.name, size, digest, rows, rows.issues)


def read_limited(path: Path) -> bytes:
    """The bytes of a pipe or of a file that is too large: one more than allowed at most."""
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def cross_check(arm: str, values: Sequence[float], token_mean: float) -> None:
    """Raise `IntegrityError` unless the values' mean is the loss record's, to 1e-12."""
    mean = math.fsum(values) / len(values) if values else math.nan
    if not math.isclose(mean, token_mean, rel_tol=CROSS_CHECK, abs_tol=CROSS_CHECK):
        raise IntegrityError(
            f"the rows of {arm} have the mean {mean!r}, its loss record says {token_mean!r}",
            hint="score the arm again; nothing was rounded on the way here",
        )


def within_limits(data: bytes, *, items: int, cells: int) -> bytes:
    """The rows' bytes, or a refusal that does the arithmetic.

    Raises `DocumentError` above 100,000 rows or 10 MiB, with the number of items that would fit.
    """
    rows = items * cells
    if rows <= MAX_ROWS and len(data) <= MAX_BYTES:
        return data
    per_row = len(data) / rows
    fitting = min(MAX_ROWS, int(MAX_BYTES / per_row)) // cells
    raise DocumentError(
        f"{items} items x {cells} cells x {per_row:.0f} bytes = {rows} rows, {len(data)} bytes; "
        f"at most {MAX_ROWS} rows and {MAX_BYTES} bytes are allowed",
        hint=f"score at most {fitting} items",
    )
