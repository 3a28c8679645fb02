"""Where every arm of a run stands, from the plan and the ledger."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.model.json import as_list, as_text, is_integer, is_number
from rx_tools.planning.plan import Plan, PlannedArm


class ArmState(StrEnum):
    """How far an arm has come."""

    WAITING = "waits for the selection"
    PLANNED = "planned"
    CLEARED = "cleared"
    TRAINING = "training"
    STOPPED = "stopped"
    TRAINED = "trained"
    SCORED = "scored"


@dataclass(frozen=True, slots=True)
class ArmView:
    """One arm. `updates` are the surviving ones in order; `rate` is the executed or planned rate.

    `replayed` counts updates that were made and discarded by a restore. `score` is the evaluator's
    value in the metric's units, None before scoring.
    """

    name: str
    role: str
    seed: int
    phase: str
    optimizer: str
    rate: float | None
    steps: int
    state: ArmState
    attempts: int
    restores: int
    replayed: int
    updates: tuple[Mapping[str, Any], ...]
    score: float | None
    tokens: int | None
    checkpoint: str
    clearance: int | None
    stopped: str

    @property
    def done(self) -> int:
        """How many updates count."""
        return len(self.updates)

    @property
    def last_loss(self) -> float | None:
        """Training loss of the last update that counts, in nats per token."""
        return self.losses[-1][1] if self.losses else None

    @property
    def losses(self) -> list[tuple[int, float]]:
        """(step, training loss) of every update that has a finite one."""
        return [
            (int(row["step"]), float(row["train_nll"]))
            for row in self.updates
            if is_integer(row.get("step")) and is_number(row.get("train_nll"))
        ]


def arm_views(plan: Plan, lines: Sequence[LedgerLine]) -> tuple[ArmView, ...]:
    """Every planned arm, in the plan's order."""
    own: dict[str, list[LedgerLine]] = {arm.name: [] for arm in plan.arms}
    for line in lines:
        name = line.data.get("arm")
        if isinstance(name, str) and name in own:
            own[name].append(line)
    selected = last_data(lines, "selection_frozen").get("selected")
    rates = selected if isinstance(selected, Mapping) else {}
    return tuple(
        arm_view(arm, own[arm.name], rates, cleared_by(lines, arm.name)) for arm in plan.arms
    )


def arm_view(
    arm: PlannedArm, lines: Sequence[LedgerLine], selected: Mapping[str, Any], clearance: int | None
) -> ArmView:
    """One arm from its own lines."""
    updates = surviving(lines)
    made = sum(line.event == "update_acknowledged" for line in lines)
    scored, finished = last_data(lines, "arm_scored"), last_data(lines, "arm_finished")
    rate = arm.learning_rate
    if rate is None and is_number(chosen := selected.get(arm.grid or "")):
        rate = float(chosen)
    return ArmView(
        name=arm.name,
        role=arm.role,
        seed=arm.seed,
        phase=arm.phase,
        optimizer=arm.optimizer.type,
        rate=rate,
        steps=arm.steps,
        state=state_of(lines, clearance, waits=rate is None),
        attempts=sum(line.event == "arm_started" for line in lines),
        restores=sum(line.event == "arm_restored" for line in lines),
        replayed=made - len(updates),
        updates=updates,
        score=number_in(scored, "value", "token_mean"),
        tokens=scored["n_tokens"] if is_integer(scored.get("n_tokens")) else None,
        checkpoint=as_text(finished.get("uri")),
        clearance=clearance,
        stopped=why_stopped(lines),
    )


def surviving(lines: Iterable[LedgerLine]) -> tuple[Mapping[str, Any], ...]:
    """The updates that no restore has discarded."""
    rows: list[Mapping[str, Any]] = []
    for line in lines:
        if line.event == "update_acknowledged":
            rows.append(line.data)
        elif line.event == "arm_restored" and is_integer(step := line.data.get("step")):
            del rows[max(step, 0) :]
    return tuple(rows)


def state_of(lines: Sequence[LedgerLine], clearance: int | None, *, waits: bool) -> ArmState:
    """The furthest state that the lines show; a stop counts until the next start."""
    seen = {line.event for line in lines}
    if "arm_scored" in seen:
        return ArmState.SCORED
    if "arm_finished" in seen:
        return ArmState.TRAINED
    if "arm_started" in seen:
        return ArmState.STOPPED if why_stopped(lines) else ArmState.TRAINING
    if waits:
        return ArmState.WAITING
    return ArmState.PLANNED if clearance is None else ArmState.CLEARED


def why_stopped(lines: Sequence[LedgerLine]) -> str:
    """Why the arm does not go on: the reason of a stop with no start after it."""
    for line in reversed(lines):
        if line.event == "arm_stopped":
            return as_text(line.data.get("reason")) or "stopped"
        if line.event in ("arm_started", "arm_finished"):
            return ""
    return ""


def cleared_by(lines: Sequence[LedgerLine], arm: str) -> int | None:
    """The newest clearance that names the arm."""
    issued = [line.data for line in lines if line.event == "clearance_issued"]
    numbers = [data.get("clearance") for data in issued if arm in as_list(data.get("arms"))]
    return next((number for number in reversed(numbers) if is_integer(number)), None)


def last_data(lines: Sequence[LedgerLine], event: str) -> Mapping[str, Any]:
    """The data of the last such event, empty if there is none."""
    return next((line.data for line in reversed(lines) if line.event == event), {})


def number_in(data: Mapping[str, Any], *names: str) -> float | None:
    """The first of these members that is a finite number."""
    return next((float(data[name]) for name in names if is_number(data.get(name))), None)
