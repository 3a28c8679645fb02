"""How judges grade what they read: problems make checks, checks make a gate's answer.

What is absent is `unverified`, what has the wrong type is `invalid`, a number that is not finite
and a flag that is false are `failed`; only what is really there can pass.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from reprlib import Repr
from typing import Any

from rx_tools.checks.hints import HINTS
from rx_tools.model.json import JsonObject, is_integer, is_number
from rx_tools.model.json_path import child
from rx_tools.model.result import Finding, Level, Result, Status

SHA256 = re.compile(r"[0-9a-f]{64}")

SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 120
SHORT.maxlist = SHORT.maxdict = 12

WORST_FIRST = (Status.INVALID, Status.FAILED, Status.UNVERIFIED, Status.UNKNOWN, Status.PASSED)

LEVELS = {
    Status.INVALID: Level.ERROR,
    Status.FAILED: Level.ERROR,
    Status.UNVERIFIED: Level.UNVERIFIED,
    Status.UNKNOWN: Level.UNVERIFIED,
    Status.PASSED: Level.WARNING,
}

VERBS = {
    Status.INVALID: "is malformed",
    Status.FAILED: "is not acceptable",
    Status.UNVERIFIED: "is not recorded",
}

Rule = Callable[[object], Status]
"""Grades one value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a check does not pass. With the status `PASSED` it is a warning and decides nothing."""

    status: Status
    code: str
    message: str
    json_path: str = "$"
    document: str = "record"
    hint: str = ""

    @property
    def finding(self) -> Finding:
        """The problem as a finding."""
        level, hint = LEVELS[self.status], self.hint or HINTS.get(self.code, "")
        return Finding(self.code, level, self.message, self.json_path, hint, self.document)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a gate's answer: it has the status and the words of its worst problem."""

    name: str
    problems: tuple[Problem, ...] = ()
    passed: str = ""

    @property
    def status(self) -> Status:
        """The worst status of its problems; `PASSED` without one."""
        return worst(problem.status for problem in self.problems)

    @property
    def reason(self) -> str:
        """The message of the first of its worst problems."""
        status = self.status
        if status is Status.PASSED:
            return self.passed
        return next(problem.message for problem in self.problems if problem.status is status)

    @property
    def entry(self) -> dict[str, str]:
        """The line as the server words it."""
        return {"check": self.name, "status": self.status.value, "reason": self.reason}


def worst(statuses: Iterable[Status]) -> Status:
    """The status that decides; `PASSED` when there is none."""
    seen = set(statuses)
    return next((status for status in WORST_FIRST if status in seen), Status.PASSED)


def findings_of(checks: Iterable[Check]) -> tuple[Finding, ...]:
    """Every problem of every check, in order."""
    return tuple(problem.finding for check in checks for problem in check.problems)


def deciding_reason(checks: Sequence[Check], otherwise: str) -> str:
    """The reason of the first check that has the deciding status."""
    decisive = worst(check.status for check in checks)
    if decisive is Status.PASSED:
        return otherwise
    return next(check.reason for check in checks if check.status is decisive)


def examine(
    section: JsonObject, rules: Mapping[str, Rule], code: str, label: str, path: str
) -> Iterator[Problem]:
    """One problem for each member of `section` that its rule does not pass."""
    for name, rule in rules.items():
        status = rule(section.get(name))
        if status is not Status.PASSED:
            message = f"{label}: {name} {VERBS[status]}."
            yield Problem(status, code, message, child(path, name))


def grade(value: object, accepts: Callable[[object], bool]) -> Status:
    """`PASSED` if `accepts` takes the value, `UNVERIFIED` if it is absent, else `INVALID`."""
    if value is None:
        return Status.UNVERIFIED
    return Status.PASSED if accepts(value) else Status.INVALID


def number(value: object) -> Status:
    """A finite number; a NaN or an infinity fails."""
    if isinstance(value, float) and not math.isfinite(value):
        return Status.FAILED
    return grade(value, is_number)


def non_negative(value: object) -> Status:
    """A finite number that is not below zero."""
    status = number(value)
    if status is not Status.PASSED:
        return status
    return Status.PASSED if is_number(value) and value >= 0 else Status.INVALID


def count(value: object) -> Status:
    """An integer that is not below zero."""
    return grade(value, lambda item: is_integer(item) and is_number(item) and item >= 0)


def integer(value: object) -> Status:
    """An integer that a double can hold."""
    return grade(value, lambda item: is_integer(item) and is_number(item))


def true(value: object) -> Status:
    """True itself; false fails."""
    return Status.FAILED if value is False else grade(value, lambda item: item is True)


def text(value: object) -> Status:
    """A string with something in it; an empty one counts as absent."""
    if isinstance(value, str) and not value.strip():
        return Status.UNVERIFIED
    return grade(value, lambda item: isinstance(item, str))


def resolved(value: object) -> Status:
    """A text that does not say `UNRESOLVED`."""
    status = text(value)
    unresolved = isinstance(value, str) and value.strip().lower().startswith("unresolved")
    return Status.UNVERIFIED if unresolved else status


def sha256(value: object) -> Status:
    """A SHA-256 in lower-case hex."""
    return grade(value, is_sha256)


def one_of(*choices: str) -> Rule:
    """A rule that takes these words only."""
    return lambda value: grade(value, lambda item: isinstance(item, str) and item in choices)


def shown(value: object) -> str:
    """A value in a message, cut where it is long."""
    return SHORT.repr(value) if is_number(value) or not is_integer(value) else "a huge integer"


def is_sha256(value: object) -> bool:
    """Whether the value is a SHA-256 in lower-case hex."""
    return isinstance(value, str) and SHA256.fullmatch(value) is not None


def is_text(value: object) -> bool:
    """Whether the value is a string with something in it."""
    return text(value) is Status.PASSED


def same(left: object, right: object) -> bool:
    """Equality of JSON values that never mixes booleans with numbers."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def gate_of_checks(applies: Mapping[str, Any], checks: Iterable[Check], passed: str) -> Result:
    """The answer of a gate that is a list of checks; `checks` is not read where it does not apply.

    `applies` is what `check_applicability` says, `passed` the reason of a gate without a problem.
    """
    made = tuple(checks) if applies["enforce"] else ()
    status, reason = Status.NOT_APPLICABLE, applies["reasons"][0]
    if applies["enforce"]:
        status = worst(check.status for check in made)
        reason = deciding_reason(made, passed)
    details = {
        "status": status.value,
        "required": applies["enforce"],
        "checks": [check.entry for check in made],
        "reason": reason,
        "applicability": applies["status"],
    }
    return Result(status, findings_of(made), details)
