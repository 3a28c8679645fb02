"""The gates as a preflight sees them: judged by the same pure functions as everywhere."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from rx_tools.checks.validation import JUDGES
from rx_tools.errors import UsageError
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

BEFORE_TRAINING = (
    Gate.CORRECTNESS,
    Gate.RESTORATION,
    Gate.ACTIVATION,
    Gate.FEASIBILITY,
    Gate.GENERATION_AUDIT,
)
"""The gates that must open before an arm trains; the others judge what training leaves behind."""

KEPT_REASONS = 5
MAY_BE_ACCEPTED = (Status.UNVERIFIED, Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class GateTable:
    """Every gate's answer, and which unverified ones the user accepted."""

    results: Mapping[Gate, Result]
    accepted: tuple[Gate, ...] = ()

    def opens(self, gate: Gate) -> bool:
        """Whether training may pass this gate; an accepted `unverified` caps the verdict."""
        status = self.results[gate].status
        return status.opens or (gate in self.accepted and status in MAY_BE_ACCEPTED)

    @property
    def closed(self) -> tuple[Gate, ...]:
        """The gates that keep training from starting."""
        return tuple(gate for gate in self.results if not self.opens(gate))

    @property
    def used_acceptances(self) -> tuple[Gate, ...]:
        """The acceptances that were needed; each caps the verdict at inconclusive."""
        return tuple(gate for gate in self.accepted if not self.results[gate].status.opens)

    @property
    def statuses(self) -> dict[str, Status]:
        """Gate name → status."""
        return {gate.value: result.status for gate, result in self.results.items()}


def judged_line(gate: Gate, result: Result) -> dict[str, Any]:
    """What the ledger keeps of a gate's answer: its status and its first reasons."""
    reasons = first_reasons([reason.message for reason in result.reasons])
    return {"gate": gate.value, "status": result.status.value, "reasons": reasons}


def first_reasons(reasons: Sequence[str]) -> list[str]:
    """The first reasons, and how many more there are."""
    more = len(reasons) - KEPT_REASONS
    return [*reasons[:KEPT_REASONS], *([f"and {more} more"] if more > 0 else [])]


def gates_named(names: Sequence[str]) -> tuple[Gate, ...]:
    """The gates that `--accept-unverified` names; one line for a name that is none of them."""
    known = {gate.value: gate for gate in BEFORE_TRAINING}
    known |= {gate.value.split("_")[0]: gate for gate in BEFORE_TRAINING}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            f"no gate is named {unknown[0]!r}",
            where="--accept-unverified",
            hint=f"one of {', '.join(gate.value for gate in BEFORE_TRAINING)}",
        )
    return tuple(dict.fromkeys(known[name] for name in names))


def judge_before_training(
    spec: JsonObject, record: JsonObject, evidence: Evidence, accepted: Sequence[Gate]
) -> GateTable:
    """The gates of the preflight on what was measured so far."""
    plan, report = Spec.of(without_waiting_rates(spec, record)), Record.of(record)
    results = {gate: JUDGES[gate](plan, report, evidence) for gate in BEFORE_TRAINING}
    return GateTable(results, tuple(accepted))


def without_waiting_rates(spec: JsonObject, record: JsonObject) -> JsonObject:
    """The spec without the rates that a selection has yet to freeze.

    Everything else of an optimizer can be judged now; its rate is judged after the selection,
    before the arms that wait for it are cleared.
    """
    if as_object(as_object(record.get("decision")).get("selection")):
        return spec
    settled: dict[str, Any] = deepcopy(dict(spec))
    for group in as_list(as_object(settled.get("restoration_preflight")).get("groups")):
        for arm in as_list(as_object(group).get("arms")):
            config = as_object(as_object(arm).get("optimizer_config"))
            waiting = [key for key, value in config.items() if "frozen" in as_text(value)]
            for key in waiting:
                del arm["optimizer_config"][key]
    return settled
