"""One thing that a bundle says, and what a stranger finds when looking after it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rx_tools.errors import ExitCode


class State(StrEnum):
    """The three answers of a verification."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    OPEN = "not checkable here"


@dataclass(frozen=True, slots=True)
class Claim:
    """`subject` is what was looked at (a path or a topic), `message` what was found.

    An open claim `weighs` when the bundle should have made it checkable; it does not when no
    bundle ever could (weights behind a reference, the honesty of a clock).
    """

    state: State
    subject: str
    message: str
    weighs: bool = True


def verified(subject: str, message: str) -> Claim:
    """Looked at, and it is so."""
    return Claim(State.VERIFIED, subject, message)


def contradicted(subject: str, message: str) -> Claim:
    """Looked at, and it is not so."""
    return Claim(State.CONTRADICTED, subject, message)


def incomplete(subject: str, message: str) -> Claim:
    """Could not be looked at, although a complete bundle would allow it."""
    return Claim(State.OPEN, subject, message)


def beyond(subject: str, message: str) -> Claim:
    """No bundle can show this."""
    return Claim(State.OPEN, subject, message, weighs=False)


def agree(subject: str, what: str, stated: object, derived: object) -> Claim:
    """Verified if the stated value is the derived one, of the same type."""
    if type(stated) is type(derived) and stated == derived:
        return verified(subject, f"{what} is {derived}")
    return contradicted(subject, f"{what} is stated as {stated!r}, derived is {derived!r}")


def exit_code(claims: Iterable[Claim]) -> ExitCode:
    """4 when anything is contradicted, 3 when something that weighs is open or nothing is there."""
    found = list(claims)
    if any(claim.state is State.CONTRADICTED for claim in found):
        return ExitCode.INTEGRITY
    if not found or any(claim.state is State.OPEN and claim.weighs for claim in found):
        return ExitCode.UNVERIFIED
    return ExitCode.OK
