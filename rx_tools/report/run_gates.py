"""Gates, clearances and the selection of a run, from its ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer, is_number
from rx_tools.model.names import Gate
from rx_tools.planning.plan import Plan
from rx_tools.report.run_arms import last_data

OPEN = ("passed", "not_applicable", "recomputed")
PENDING = "pending"
RECOMPUTED = "recomputed"
"""The decision's own answer: the rule was applied to the rows, whatever the verdict."""


@dataclass(frozen=True, slots=True)
class GateView:
    """A gate's last answer. `why` says why it applies; `judged` is the ledger line, 0 if none."""

    name: str
    status: str
    reasons: tuple[str, ...]
    accepted: bool
    why: str
    judged: int

    @property
    def opens(self) -> bool:
        """Whether work may pass it."""
        return self.status in OPEN


@dataclass(frozen=True, slots=True)
class ClearanceView:
    """A clearance, the arms that it names and those that spent it."""

    number: int
    arms: tuple[str, ...]
    spent: tuple[str, ...]
    accepted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One learning rate of a grid, and its validation score if it was scored."""

    rate: float
    arm: str
    score: float | None


@dataclass(frozen=True, slots=True)
class GridView:
    """A role's search. `selected` is None until it is frozen."""

    id: str
    role: str
    points: tuple[GridPoint, ...]
    selected: float | None
    at_edge: bool


def gate_views(plan: Plan, lines: Sequence[LedgerLine]) -> tuple[GateView, ...]:
    """The gates that were judged or that the plan foresees, in the order of every report."""
    judged = {as_text(line.data.get("gate")): line for line in lines if line.event == "gate_judged"}
    accepted = {
        as_text(line.data.get("gate")) for line in lines if line.event == "unverified_accepted"
    }
    planned = {as_text(gate.get("check")): gate for gate in plan.gates}
    known = [gate.value for gate in Gate]
    for line in lines:
        if line.event == "decision_made":
            judged[Gate.DECISION.value] = line
    names = sorted({*judged, *planned} - {""}, key=lambda name: (rank(known, name), name))
    return tuple(
        gate_view(name, judged.get(name), as_object(planned.get(name)), name in accepted)
        for name in names
    )


def rank(known: Sequence[str], name: str) -> int:
    """The place of a gate; one that this version does not know comes last."""
    return known.index(name) if name in known else len(known)


def gate_view(name: str, line: LedgerLine | None, planned: JsonObject, accepted: bool) -> GateView:
    """One gate."""
    why = next(iter(as_list(planned.get("reasons"))), "")
    if line is None:
        status = PENDING if planned.get("enforce") else "not_applicable"
        return GateView(name, status, (), accepted, str(why), 0)
    if line.event == "decision_made":
        said = f"{line.data.get('verdict')}, {line.data.get('outcome_reason')}"
        return GateView(name, RECOMPUTED, (said,), accepted, str(why), line.seq)
    reasons = tuple(str(reason) for reason in as_list(line.data.get("reasons")))
    status = as_text(line.data.get("status")) or "unknown"
    return GateView(name, status, reasons, accepted, str(why), line.seq)


def clearance_views(lines: Sequence[LedgerLine]) -> tuple[ClearanceView, ...]:
    """Every clearance, oldest first."""
    accepted = tuple(
        as_text(line.data.get("gate")) for line in lines if line.event == "unverified_accepted"
    )
    spent = [line.data for line in lines if line.event == "clearance_spent"]
    return tuple(
        ClearanceView(
            number=number,
            arms=tuple(map(str, as_list(line.data.get("arms")))),
            spent=tuple(str(data.get("arm")) for data in spent if data.get("clearance") == number),
            accepted=accepted,
        )
        for line in lines
        if line.event == "clearance_issued" and is_integer(number := line.data.get("clearance"))
    )


def grid_views(plan: Plan, lines: Sequence[LedgerLine]) -> tuple[GridView, ...]:
    """Every grid of the plan with its scores and its choice."""
    frozen = last_data(lines, "selection_frozen")
    scores = {
        as_text(line.data.get("arm")): line.data.get("value", line.data.get("token_mean"))
        for line in lines
        if line.event == "arm_scored"
    }
    selected, edges = as_object(frozen.get("selected")), as_object(frozen.get("edge"))
    return tuple(
        GridView(
            id=grid.id,
            role=grid.role,
            points=tuple(
                point(rate, arm, scores)
                for rate, arm in zip(grid.learning_rates, grid.arms, strict=False)
            ),
            selected=rate if is_number(rate := selected.get(grid.id)) else None,
            at_edge=edges.get(grid.id) is True,
        )
        for grid in plan.grids
    )


def point(rate: float, arm: str, scores: Mapping[str, object]) -> GridPoint:
    """One rate of a grid."""
    score = scores.get(arm)
    return GridPoint(rate, arm, float(score) if is_number(score) else None)
