"""How judges grade what they read: one status per check, one finding per reason.

A value that is absent is `unverified`, one of the wrong type is `invalid`, a number that is not
finite is `failed`; only what is really there, of the right type, can pass.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rx_tools.model.json import is_number
from rx_tools.model.result import Finding, Level, Status

SHA256 = re.compile(r"[0-9a-f]{64}")

WORST_FIRST = (Status.INVALID, Status.FAILED, Status.UNVERIFIED, Status.UNKNOWN, Status.PASSED)

LEVELS = {
    Status.INVALID: Level.ERROR,
    Status.FAILED: Level.ERROR,
    Status.UNVERIFIED: Level.UNVERIFIED,
    Status.UNKNOWN: Level.UNVERIFIED,
    Status.PASSED: Level.NOTE,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a gate's answer."""

    name: str
    status: Status
    reason: str = ""
    code: str = ""
    json_path: str = "$"
    document: str = "record"

    @property
    def entry(self) -> dict[str, str]:
        """The line as the server words it."""
        return {"check": self.name, "status": self.status.value, "reason": self.reason}

    @property
    def finding(self) -> Finding:
        """The line as a finding; meant for checks that did not pass."""
        return Finding(
            self.code, LEVELS[self.status], self.reason, self.json_path, document=self.document
        )


def worst(statuses: Iterable[Status]) -> Status:
    """The status that decides; `PASSED` when there is none."""
    seen = set(statuses)
    return next((status for status in WORST_FIRST if status in seen), Status.PASSED)


def open_checks(checks: Iterable[Check]) -> list[Check]:
    """The checks that did not pass, in order."""
    return [check for check in checks if check.status is not Status.PASSED]


def findings_of(checks: Iterable[Check]) -> tuple[Finding, ...]:
    """One finding per check that did not pass."""
    return tuple(check.finding for check in open_checks(checks))


def first_reason(checks: Sequence[Check], otherwise: str) -> str:
    """The reason of the first check that has the deciding status."""
    decisive = worst(check.status for check in checks)
    if decisive is Status.PASSED:
        return otherwise
    return next(check.reason for check in checks if check.status is decisive)


def grade(value: object, accepts: Callable[[object], bool]) -> Status:
    """`PASSED` if `accepts` takes the value, `UNVERIFIED` if it is absent, else `INVALID`."""
    if value is None:
        return Status.UNVERIFIED
    return Status.PASSED if accepts(value) else Status.INVALID


def grade_number(value: object) -> Status:
    """`PASSED` for a finite number; `FAILED` for a NaN or an infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return Status.FAILED
    return grade(value, is_number)


def grade_flag(value: object) -> Status:
    """`PASSED` for true only; `FAILED` for false."""
    return Status.FAILED if value is False else grade(value, lambda item: item is True)


def is_sha256(value: object) -> bool:
    """Whether the value is a SHA-256 in lower-case hex."""
    return isinstance(value, str) and SHA256.fullmatch(value) is not None


def is_text(value: object) -> bool:
    """Whether the value is a string with something in it."""
    return isinstance(value, str) and bool(value.strip())


def is_resolved(value: object) -> bool:
    """Whether the value is a text that no longer says `UNRESOLVED`."""
    return is_text(value) and not str(value).strip().lower().startswith("unresolved")


def same(left: object, right: object) -> bool:
    """Equality of JSON values that never mixes booleans with numbers."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return left == right
