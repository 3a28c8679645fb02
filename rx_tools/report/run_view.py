"""Everything that a status, a page and a comparison say about a run, read once from its files.

Works for runs that are planned, running, stopped, failed or finished, and for unpacked bundles;
nothing is written and no lock is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rx_tools.errors import RxError
from rx_tools.evidence.budget import Budget, budget_of
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.layout import MANIFEST
from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.evidence.ledger_reading import LedgerReading, read_ledger
from rx_tools.evidence.run_dir import RunDir
from rx_tools.evidence.tree import open_tree
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.record import Record
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import Plan
from rx_tools.report.liveness import is_held
from rx_tools.report.run_arms import ArmView, arm_views, last_data, number_in
from rx_tools.report.run_effects import EffectView, effect_views
from rx_tools.report.run_gates import (
    ClearanceView,
    GateView,
    GridView,
    clearance_views,
    gate_views,
    grid_views,
)
from rx_tools.report.run_phase import Phase, Standing, interruption, next_step, phase_of


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as it lies on the disk. `base_score` is the untrained model's, in the metric's units.

    `live` says whether a process is writing to it, None where the system cannot tell.
    """

    run: RunDir
    plan: Plan
    spec: Mapping[str, Any]
    reading: LedgerReading
    record: Record
    updates: int
    arms: tuple[ArmView, ...]
    gates: tuple[GateView, ...]
    clearances: tuple[ClearanceView, ...]
    grids: tuple[GridView, ...]
    budget: Budget
    phase: Phase
    live: bool | None
    interrupted: str
    bundle: Path | None
    next: str

    @property
    def lines(self) -> Sequence[LedgerLine]:
        """The readable ledger lines."""
        return self.reading.lines

    @property
    def base_score(self) -> float | None:
        """The score of the untrained model."""
        scored = [
            line.data
            for line in self.lines
            if line.event == "arm_scored" and line.data.get("arm") == names.BASE
        ]
        return number_in(scored[-1], "value", "token_mean") if scored else None

    @property
    def verdict(self) -> str:
        """The decided verdict, empty before the decision."""
        decided = as_text(last_data(self.lines, "decision_made").get("verdict"))
        return decided or self.record.verdict or ""

    @property
    def outcome_reason(self) -> str:
        """Why it is that verdict."""
        decided = as_text(last_data(self.lines, "decision_made").get("outcome_reason"))
        return decided or self.record.outcome_reason or ""

    @property
    def deviations(self) -> list[Mapping[str, Any]]:
        """What was declared to differ from the spec."""
        declared = last_data(self.lines, "deviations_declared").get("deviations")
        return [as_object(one) for one in as_list(declared)]

    @property
    def tested_instead(self) -> str:
        """What was tested in place of the hypothesis; empty when the hypothesis was."""
        declared = last_data(self.lines, "deviations_declared")
        return as_text(declared.get("tested_instead")) or self.record.tested_instead or ""

    @property
    def observations(self) -> Path | None:
        """The newest file of observation rows."""
        listed = as_object(as_object(self.record.raw.get("decision")).get("observations_file"))
        named = self.run.evidence / Path(as_text(listed.get("name"))).name
        return named if named.is_file() else self.run.newest(names.OBSERVATIONS)

    def effects(self) -> tuple[EffectView, ...]:
        """Every criterion, recomputed."""
        return effect_views(self.spec, self.plan, self.arms, self.observations)


def look(run: RunDir) -> RunView:
    """Read a run. Raises `RxError` when a document cannot be read at all."""
    plan = run.plan
    reading = read_ledger(run.ledger_path, run=run.run_id)
    lines = reading.lines
    record = Record.of(run.record())
    arms, clearances = arm_views(plan, lines), clearance_views(lines)
    gates = gate_views(plan, lines)
    phase = phase_of(plan, lines, arms, clearances, failed=record.status == "failed")
    live, why = is_held(run.ledger_path), interruption(lines)
    packed = bundle_beside(run.path)
    standing = Standing(run.path, phase, live, why, reading, gates, arms, packed)
    return RunView(
        run=run,
        plan=plan,
        spec=as_object(run.spec.value),
        reading=reading,
        record=record,
        updates=len(run.record_paths()),
        arms=arms,
        gates=gates,
        clearances=clearances,
        grids=grid_views(plan, lines),
        budget=budget_of(run.evidence),
        phase=phase,
        live=live,
        interrupted=why,
        bundle=packed,
        next=next_step(standing),
    )


def bundle_beside(place: Path) -> Path | None:
    """The bundle that lies beside a run directory under its default name."""
    folder = place.resolve()
    candidates = [folder.with_name(f"{folder.name}.bundle{ending}") for ending in ("", ".zip")]
    return next((path for path in candidates if path.exists()), None)


def root_digest(bundle: Path) -> str:
    """The SHA-256 of a bundle's manifest; empty when it cannot be read."""
    try:
        return sha256_of(open_tree(bundle).read(MANIFEST))
    except (RxError, OSError):
        return ""
