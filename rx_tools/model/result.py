"""What a check answers: one status, its reasons, and the answer in the server's shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, NoReturn

from rx_tools.errors import ExitCode


class Status(StrEnum):
    """The six answers of a gate. A status has no truth value: compare it by name."""

    PASSED = "passed"
    FAILED = "failed"
    UNVERIFIED = "unverified"
    INVALID = "invalid"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"

    def __bool__(self) -> NoReturn:
        raise TypeError("a status has no truth value; write `status is Status.PASSED`")

    @property
    def opens(self) -> bool:
        """Whether the runner may proceed past a gate with this status."""
        return self in (Status.PASSED, Status.NOT_APPLICABLE)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that judges this gate alone."""
        return EXIT_OF[self]


EXIT_OF: Mapping[Status, ExitCode] = {
    Status.PASSED: ExitCode.OK,
    Status.NOT_APPLICABLE: ExitCode.OK,
    Status.FAILED: ExitCode.FINDINGS,
    Status.INVALID: ExitCode.FINDINGS,
    Status.UNVERIFIED: ExitCode.UNVERIFIED,
    Status.UNKNOWN: ExitCode.UNVERIFIED,
}


class Level(Enum):
    """How much a finding weighs: an error and an unverified item decide, a warning does not."""

    ERROR = "error"
    UNVERIFIED = "unverified"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason, with the stable code of its manual page and the place it speaks of.

    `json_path` is rooted at `$` in the document named by `document` (`spec`, `record`, …).
    """

    code: str
    level: Level
    message: str
    json_path: str = "$"
    hint: str = ""
    document: str = "record"


@dataclass(frozen=True, slots=True)
class Result:
    """A gate's answer. `details` is the same answer as the exchange's server words it."""

    status: Status
    reasons: tuple[Finding, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> NoReturn:
        raise TypeError("a result has no truth value; compare its status")
