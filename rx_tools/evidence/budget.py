"""The caps of a run's evidence: 10 MiB a file, 64 files, 40 MiB a run (contract §11)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rx_tools.errors import DocumentError

MIB = 1 << 20
MAX_FILE = 10 * MIB
MAX_FILES = 64
MAX_TOTAL = 40 * MIB
HINT = "score fewer items, or run fewer arms"


@dataclass(frozen=True, slots=True)
class Budget:
    """What the evidence of a run takes up. Sizes are in bytes."""

    files: int
    total: int

    @property
    def files_left(self) -> int:
        """How many more files fit."""
        return MAX_FILES - self.files

    @property
    def bytes_left(self) -> int:
        """How many more bytes fit."""
        return MAX_TOTAL - self.total

    def __str__(self) -> str:
        return f"{self.files} of {MAX_FILES} files, {in_mib(self.total)} of {in_mib(MAX_TOTAL)} MiB"


def budget_of(folder: Path) -> Budget:
    """What is published in an evidence folder; temporary files do not count."""
    present = folder.iterdir() if folder.is_dir() else ()
    sizes = [path.lstat().st_size for path in present if not path.name.startswith(".")]
    return Budget(len(sizes), sum(sizes))


def require_room(budget: Budget, planned: Mapping[str, int]) -> Budget:
    """The budget after publishing files of these sizes in bytes; `DocumentError` if one cap breaks.

    Ask before an arm starts, with what all arms still need: at the end it is too late.
    """
    for name, size in planned.items():
        if not size <= MAX_FILE:
            reason = f"{name} has {in_mib(size)} MiB, the cap of one file is {in_mib(MAX_FILE)}"
            raise DocumentError(reason, hint=HINT)
    after = Budget(budget.files + len(planned), budget.total + sum(planned.values()))
    if not after.files <= MAX_FILES:
        sentence = f"{budget.files} + {len(planned)} evidence files are more than {MAX_FILES}"
        raise DocumentError(sentence, hint="every arm needs two: run fewer arms")
    if not after.total <= MAX_TOTAL:
        sum_text = f"{in_mib(budget.total)} + {in_mib(sum(planned.values()))} MiB"
        raise DocumentError(f"{sum_text} of evidence are more than {in_mib(MAX_TOTAL)}", hint=HINT)
    return after


def in_mib(size: int) -> str:
    """Bytes in MiB with two digits, rounded up so that no file above a cap looks like one at it."""
    return f"{-(-size * 100 // MIB) / 100:.2f}"
