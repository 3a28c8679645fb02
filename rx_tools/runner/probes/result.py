"""What a probe answers: proven, contradicted or unproven, with figures; never a guess."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NoReturn


class Outcome(StrEnum):
    """The three answers. An outcome has no truth value: compare it by name."""

    PROVEN = "proven"
    CONTRADICTED = "contradicted"
    UNPROVEN = "unproven"

    def __bool__(self) -> NoReturn:
        raise TypeError("an outcome has no truth value; write `outcome is Outcome.PROVEN`")


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One probe's answer. `figures` is plain JSON; `measured_here` is false for foreign evidence.

    An unproven result names in `reasons` exactly what is missing.
    """

    probe: str
    outcome: Outcome
    reasons: tuple[str, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    measured_here: bool = True

    def __bool__(self) -> NoReturn:
        raise TypeError("a result has no truth value; compare its outcome")

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "probe": self.probe,
            "outcome": self.outcome.value,
            "reasons": list(self.reasons),
            "figures": finite(self.figures),
            "measured_here": self.measured_here,
        }


def finite(value: Any) -> Any:
    """The value as plain JSON; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def proven(probe: str, reason: str, figures: Mapping[str, Any]) -> ProbeResult:
    """The claim holds, shown by the figures."""
    return ProbeResult(probe, Outcome.PROVEN, (reason,), figures)


def contradicted(probe: str, reason: str, figures: Mapping[str, Any]) -> ProbeResult:
    """The service does something else than it was asked to."""
    return ProbeResult(probe, Outcome.CONTRADICTED, (reason,), figures)


def unproven(probe: str, reason: str, figures: Mapping[str, Any] | None = None) -> ProbeResult:
    """Nothing can be said; the reason names what is missing."""
    return ProbeResult(probe, Outcome.UNPROVEN, (reason,), figures or {})


def overall(outcomes: Iterable[Outcome]) -> Outcome:
    """One contradiction decides, then one gap; no outcome at all is unproven."""
    seen = set(outcomes)
    if Outcome.CONTRADICTED in seen:
        return Outcome.CONTRADICTED
    return Outcome.PROVEN if seen == {Outcome.PROVEN} else Outcome.UNPROVEN
