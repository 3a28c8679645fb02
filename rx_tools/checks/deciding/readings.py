"""The two readings of a margin, and how criteria combine under each.

*margin*: supported above m, refuted below m. *band* (m > 0): supported above m, refuted below −m,
a tie within ±m. For m ≤ 0 there is only the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Position(StrEnum):
    """What one criterion's interval says."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    TIE = "tie"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict and its reason, in the contract's words."""

    verdict: str
    reason: str


INSUFFICIENT = Outcome("inconclusive", "insufficient_evidence")
INCOMPLETE_EXECUTION = Outcome("inconclusive", "incomplete_execution")
TIE = Outcome("inconclusive", "tie")
MIXED = Outcome("inconclusive", "mixed_criteria")
SUPPORTED = Outcome("supported", "supported")
REFUTED = Outcome("refuted", "refuted")


def margin_reading(low: Fraction, high: Fraction, margin: Fraction, guard: Fraction) -> Position:
    """Settled only where the end is further from the margin than `guard`."""
    if low - margin > guard:
        return Position.SUPPORTED
    if margin - high > guard:
        return Position.REFUTED
    return Position.OPEN


def band_reading(low: Fraction, high: Fraction, margin: Fraction, guard: Fraction) -> Position:
    """The band reading; that of the margin where the margin is not positive."""
    if margin <= 0:
        return margin_reading(low, high, margin, guard)
    if low - margin > guard:
        return Position.SUPPORTED
    if -margin - high > guard:
        return Position.REFUTED
    if -margin <= low and high <= margin:
        return Position.TIE
    return Position.OPEN


def combine(positions: Sequence[Position]) -> Outcome:
    """All criteria together; every one of them has to be settled."""
    found = set(positions)
    if Position.OPEN in found or not found:
        return INSUFFICIENT
    if found == {Position.SUPPORTED}:
        return SUPPORTED
    if found == {Position.REFUTED}:
        return REFUTED
    return TIE if found == {Position.TIE} else MIXED


def reconcile(margin: Outcome, band: Outcome) -> Outcome:
    """What both readings allow: definitive only where they agree."""
    if margin == band or band.verdict == "inconclusive":
        return band
    return INSUFFICIENT
