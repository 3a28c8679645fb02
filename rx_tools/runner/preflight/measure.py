"""The preflight: every applicable gate measured in order, judged, and the clearance issued."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rx_tools.evidence.retained import retained_evidence
from rx_tools.evidence.run_dir import pretty
from rx_tools.model.names import CheckpointUri, Gate
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.arms.score_arm import score_base
from rx_tools.runner.data.prepared import ItemKind
from rx_tools.runner.preflight.activation import Value, measure_activation
from rx_tools.runner.preflight.feasibility import (
    Downsizing,
    downsizing,
    measure_feasibility,
    over_budget,
    projected_minutes,
)
from rx_tools.runner.preflight.honesty import measure_correctness
from rx_tools.runner.preflight.pilot import run_pilot
from rx_tools.runner.preflight.restoration import Start, measure_restoration
from rx_tools.runner.preflight.room import require_evidence_room
from rx_tools.runner.preflight.sections import publish_section, start
from rx_tools.runner.preflight.service_check import ServiceFacts, check_service
from rx_tools.runner.whole import clearance
from rx_tools.runner.whole.evaluator import freeze_evaluator
from rx_tools.runner.whole.gates import GateTable, judge_before_training, judged_line
from rx_tools.runner.whole.record import SECTIONS, decision, measured_sections, post
from rx_tools.runner.whole.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user brings: accepted gates, metrics and probe reports measured elsewhere."""

    accepted: Sequence[Gate] = ()
    supplied: Mapping[str, Value] = field(default_factory=dict)
    elsewhere: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Preflight:
    """What came out. `contradicted` names optimizers that are not what they were asked to be."""

    table: GateTable
    contradicted: tuple[str, ...]
    minutes: float
    proposals: tuple[Downsizing, ...] = ()

    @property
    def cleared(self) -> bool:
        """Whether the first arms may train."""
        return not self.table.closed and not self.contradicted


def preflight(bench: Workbench, wishes: Wishes) -> Preflight:
    """Measure, judge, announce; a clearance exists afterwards only if every gate opens."""
    post(bench.run, bench.ledger, "The preflight is running; no arm has trained.")
    fixed = bench.data.fixed_batch()
    facts = measure_service(bench)
    freeze_items(bench)
    scoring = score_base(bench, facts)
    require_evidence_room(bench)
    post(bench.run, bench.ledger, "The base model is evaluated; the preflight goes on.")
    contradicted = measure_correctness(bench, wishes.elsewhere)
    starts = measure_starts(bench, facts, fixed, bench.plan.arms)
    start(bench, names.ACTIVATION)
    pilot = run_pilot(bench, facts, starts)
    publish_section(bench, names.ACTIVATION, measure_activation(bench, pilot, wishes.supplied))
    feasibility = measure_feasibility(bench, pilot, scoring)
    publish_section(bench, names.FEASIBILITY, feasibility)
    table = judge(bench, wishes.accepted)
    minutes = projected_minutes(bench, pilot, scoring)
    fits = over_budget(bench, minutes) is None
    proposals = () if fits else downsizing(bench, pilot, scoring)
    outcome = Preflight(table, contradicted, minutes, proposals)
    if outcome.cleared:
        clear(bench, table, bench.plan.selection or bench.plan.confirmation)
    return outcome


def measure_service(bench: Workbench) -> ServiceFacts:
    """What the service offers, published and announced."""
    start(bench, names.SERVICE)
    facts = check_service(bench, bench.data.fixed_batch(1))
    document = {"service": facts.to_json(), "identity": identity_facts(bench)}
    published = bench.publish_json(names.SERVICE, document)
    files = {published.name: published.sha256}
    bench.ledger.append("probe_finished", {"probe": "service", **facts.to_json()}, files)
    return facts


def identity_facts(bench: Workbench) -> dict[str, Any]:
    """Who served the preflight."""
    identity = bench.service.identity()
    return clearance.service_facts(identity) | {"sdk_version": identity.sdk_version}


def freeze_items(bench: Workbench) -> None:
    """Freeze data and evaluators before anything is scored; ids and digests, never a text."""
    facts = bench.data_facts()
    bench.run.put_evidence(names.DATA, pretty(facts))
    bench.tell(f"data: {census_words(facts)}")
    kinds: tuple[ItemKind, ...] = ("confirmation", "search")
    for kind in kinds[: 2 if bench.plan.selection else 1]:
        bench.run.put_evidence(names.items_file(kind), bench.items_manifest(kind))
        freeze_evaluator(bench, kind)


def census_words(facts: Mapping[str, Any]) -> str:
    """What a user should know of the rows before training on them."""
    train = facts["census"]["train"]
    odd = {kind: len(train[kind]) for kind in ("zero_weight", "truncated", "control_tokens")}
    counts = ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in odd.items())
    shared = len(facts["shared_rows"])
    return f"{train['rows']} training rows ({counts}); {shared} scored rows are trained on"


def measure_starts(
    bench: Workbench, facts: ServiceFacts, fixed: Any, arms: Sequence[PlannedArm]
) -> dict[int, Start]:
    """Restoration of these arms; how each seed starts goes into the ledger."""
    start(bench, names.RESTORATION)
    known = known_starts(bench)
    section, starts = measure_restoration(bench, facts, fixed, arms, known)
    for begun in starts.values():
        if begun.seed not in known:
            bench.ledger.append("initialization_recorded", begun.to_json())
    publish_section(bench, names.RESTORATION, merged(bench, section))
    return starts


def merged(bench: Workbench, section: Mapping[str, Any]) -> dict[str, Any]:
    """The new entries in place of the arms' earlier ones; every other arm keeps its own."""
    earlier = measured_sections(bench.run).get(SECTIONS[names.RESTORATION], {})
    entries = {entry["name"]: entry for entry in earlier.get("arms", ())}
    entries |= {entry["name"]: entry for entry in section["arms"]}
    return {"version": 1, "arms": list(entries.values())}


def known_starts(bench: Workbench) -> dict[int, Start]:
    """How the arms of each seed start, as the ledger recorded it."""
    recorded = clearance.events(bench.ledger.lines, "initialization_recorded")
    return {
        int(data["seed"]): Start(
            int(data["seed"]),
            CheckpointUri(str(data["uri"])) if data["uri"] else None,
            data["immutable"] is True,
        )
        for data in recorded
    }


def judge(bench: Workbench, accepted: Sequence[Gate]) -> GateTable:
    """Post the record, judge the gates on it, and write each answer into the ledger.

    A frozen selection counts at once; the record names it together with the observation rows.
    """
    record = post(bench.run, bench.ledger, "The preflight is measured; no arm has trained.")
    evidence = retained_evidence(record, bench.run.evidence)
    settled = record | {"decision": decision(bench.run, bench.ledger.lines)}
    table = judge_before_training(bench.spec, settled, evidence, accepted)
    for gate, result in table.results.items():
        bench.ledger.append("gate_judged", judged_line(gate, result))
    for gate in table.used_acceptances:
        bench.ledger.append("unverified_accepted", {"gate": gate.value})
    return table


def clear(bench: Workbench, table: GateTable, arms: Sequence[PlannedArm]) -> None:
    """Issue the clearance that these arms spend."""
    bound = [path.name for name in names.MEASURED if (path := bench.run.newest(name))]
    clearance.issue(
        bench.run,
        bench.ledger,
        bench.service.identity(),
        arms=[arm.name for arm in arms],
        gates=table.statuses,
        accepted=[gate.value for gate in table.used_acceptances],
        evidence=bound,
    )


def recorded_facts(bench: Workbench) -> ServiceFacts:
    """What the preflight found out about the service, from the ledger."""
    probes = clearance.events(bench.ledger.lines, "probe_finished")
    found = [data for data in probes if data["probe"] == "service"][-1]
    return ServiceFacts(
        exports=found["exports"] is True,
        seeds=found["seeds"] is True,
        observes=found["observes"] is True,
        accepted=dict(found["accepted"]),
    )
