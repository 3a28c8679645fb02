"""Exit codes and the one family of errors that a user may see."""

from collections.abc import Iterable, Mapping
from enum import IntEnum


class ExitCode(IntEnum):
    """What a process answers; the README's table and a golden test list the same numbers."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    UNVERIFIED = 3
    INTEGRITY = 4
    SERVICE = 5
    REFUTED = 10
    INCONCLUSIVE = 11
    INADMISSIBLE = 12
    INTERNAL = 70
    DISK = 74
    INTERRUPTED = 130


MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.OK: "passed or not applicable; `rx decide` whichever way complete evidence decides",
    ExitCode.FINDINGS: "findings: a rule or gate failed, a document or its evidence is invalid",
    ExitCode.USAGE: "usage: the command line, or what it names, cannot be meant",
    ExitCode.UNVERIFIED: "unverified or unknown: evidence is missing, or nothing was evaluated",
    ExitCode.INTEGRITY: "integrity: a hash, the ledger, a signature or a clearance does not match",
    ExitCode.SERVICE: "service: unreachable, refused, or out of capacity",
    ExitCode.REFUTED: "`rx decide --exit-verdict` only: refuted",
    ExitCode.INCONCLUSIVE: "`rx decide --exit-verdict` only: inconclusive",
    ExitCode.INADMISSIBLE: "`rx decide --exit-verdict` only: the protocol was breached",
    ExitCode.INTERNAL: "internal error: a bug; the traceback with `--debug`",
    ExitCode.DISK: "the disk: full, read-only, unreadable",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C), the work is saved",
}
"""What each code tells, in one line of the documentation."""

WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.INTERNAL,
    ExitCode.DISK,
    ExitCode.USAGE,
    ExitCode.INTEGRITY,
    ExitCode.FINDINGS,
    ExitCode.SERVICE,
    ExitCode.UNVERIFIED,
    ExitCode.OK,
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The code that decides over several files; `UNVERIFIED` when there was nothing to judge."""
    seen = set(codes)
    return next((code for code in WORST_FIRST if code in seen), ExitCode.UNVERIFIED)


class RxError(Exception):
    """One line for the user: what went wrong, where, and how to mend it."""

    exit_code = ExitCode.FINDINGS

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.hint = what, where, hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        return " ".join(f"{place}{self.what}{advice}".split())


class DocumentError(RxError):
    """A document is malformed or breaks the contract."""


class UsageError(RxError):
    """The command line asks for something that cannot be meant."""

    exit_code = ExitCode.USAGE


class UnverifiedError(RxError):
    """Evidence is missing or incomplete, so nothing can be said."""

    exit_code = ExitCode.UNVERIFIED


class IntegrityError(RxError):
    """A hash, the ledger, a signature or a clearance does not match."""

    exit_code = ExitCode.INTEGRITY


class ServiceError(RxError):
    """The training service is unreachable, refused, or is out of capacity."""

    exit_code = ExitCode.SERVICE


class DiskError(RxError):
    """The disk is full, read-only or unreadable."""

    exit_code = ExitCode.DISK


class RunInterruptedError(RxError):
    """The user stopped the work; everything finished was saved."""

    exit_code = ExitCode.INTERRUPTED
