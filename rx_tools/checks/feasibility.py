"""The plan fits its budget, by a projection from measured time.

**What.** Seconds per unit of each phase times the planned units, plus a positive recovery reserve,
for the configuration that the spec plans; then compared with the budget. While any measurement is
missing the answer is `unknown`, with every total null.

**Why.** A comparison that stops half way has cost its budget and settles nothing.

**Fix.** Time the real schedule with the served model, record all nine keys in `config` and in
`effective_config`, and measure the reserve by one real save, kill and restore.

**Source.** Exchange contract, section 6; problems come in the order and the words of the server.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.grading import Problem, is_text, same, worst
from rx_tools.checks.projection import Phase, phases_of, reserve_of, yield_of
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, is_number
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX350": "no measured feasibility was recorded",
    "RX351": "a part of the projection was not recorded",
    "RX352": "the pilot's configuration is not the planned one",
    "RX353": "generation, filter or audit phases are not sized by the measured yield",
    "RX354": "the projection exceeds the budget",
    "RX355": "the budget cannot be read",
    "RX356": "the projection covers less than the plan",
    "RX357": "the projection is for another primary endpoint than the plan's",
    "RX358": "a figure of the projection is not the one of the frozen plan beside it",
}

SECTION = "$.feasibility"
NOTHING = "Measured feasibility not recorded"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The feasibility gate; `details` is the server's answer. Never raises."""
    required = check_applicability(spec.raw, Gate.FEASIBILITY)["enforce"]
    generates = check_applicability(spec.raw, Gate.GENERATION_AUDIT)
    section = record.section("feasibility")
    phases = phases_of(as_object(section.get("measurements")))
    problems = list(measured_problems(spec, section, phases, generates["enforce"]))
    reserve = reserve_of(as_object(section.get("recovery")))
    known = [
        phase for phase in (*phases.values(), reserve) if phase and phase.gpu_hours is not None
    ]
    whole = not problems and reserve is not None
    everything = [*phases.values(), reserve] if reserve else [*phases.values()]
    wall = sum(phase.wall_seconds for phase in everything) if whole else None
    hours = sum(phase.gpu_hours or 0 for phase in known)
    if whole:
        problems += budget_problems(spec, wall, hours)
        problems += [*coverage_warnings(spec, phases), *endpoint_warnings(spec, section)]
    status = worst(problem.status for problem in problems) if required else Status.NOT_APPLICABLE
    details = {
        "status": status.value,
        "problems": [p.message for p in problems if p.status is not Status.PASSED],
        "wall_seconds": wall if is_number(wall) else None,
        "gpu_hours": hours if whole and len(known) == len(everything) else None,
        "known_gpu_hours": hours,
        "phases": {name: phase.entry for name, phase in phases.items()},
        "generation_counts": yield_of(as_object(section.get("generation"))),
        "generation_applicability": generates,
    }
    if not required:
        return Result(status, (), {**details, "problems": []})
    return Result(status, tuple(problem.finding for problem in problems), details)


def measured_problems(
    spec: Spec, section: JsonObject, phases: Mapping[str, Phase], generates: bool
) -> Iterator[Problem]:
    """What stands in the way of a projection, in the server's order."""
    if not section:
        yield Problem(Status.UNKNOWN, "RX350", NOTHING, SECTION)
        return
    config, effective = section.get("config"), section.get("effective_config")
    if not (as_object(config) and as_object(effective)):
        yield missing("Effective configuration", "config")
    if not is_text(section.get("source")):
        yield missing("Pilot evidence source", "source")
    extra = ("generation", "filter", "audit") if generates else ()
    for name in ("training", "setup", "evaluation", *extra):
        if name not in phases:
            yield missing(f"Representative {name} timing", f"measurements.{name}")
    if as_object(config):
        yield from changed_keys(spec, as_object(config), as_object(effective))
    if generates:
        yield from size_problems(section, phases)
    if reserve_of(as_object(section.get("recovery"))) is None:
        yield missing("Positive recovery reserve", "recovery")


def missing(what: str, key: str) -> Problem:
    """A part that was not recorded, or not as finite positive numbers."""
    return Problem(Status.UNKNOWN, "RX351", f"{what} not recorded", f"{SECTION}.{key}")


def effective_config(raw: JsonObject) -> dict[str, Any]:
    """The nine figures that the projection depends on, as a spec plans them."""
    dataset, evaluation = as_object(raw.get("dataset")), as_object(raw.get("eval"))
    return {
        "base_model": raw.get("base_model"),
        "lora_rank": raw.get("lora_rank"),
        "dataset": dataset.get("hf_path"),
        "batch_size": raw.get("batch_size"),
        "max_seq_len": raw.get("max_seq_len"),
        "steps": raw.get("steps"),
        "arms": len(as_list(raw["arms"])) if "arms" in raw else None,
        "n_examples": dataset.get("n_examples"),
        "n_eval": evaluation.get("n_examples"),
    }


def changed_keys(spec: Spec, config: JsonObject, effective: JsonObject) -> Iterator[Problem]:
    """Every planned figure must stand in the pilot's and in the effective configuration."""
    for key, planned in effective_config(spec.raw).items():
        agree = all(same(found.get(key), planned) for found in (config, effective) if found)
        if planned is not None and not agree:
            message = f"Re-projection required: {key} changed or was not recorded"
            yield Problem(Status.UNKNOWN, "RX352", message, f"{SECTION}.config.{key}")


def size_problems(section: JsonObject, phases: Mapping[str, Phase]) -> Iterator[Problem]:
    """Generation and filtering are sized by the measured yield, not by hope."""
    counts = yield_of(as_object(section.get("generation")))
    if counts is None:
        yield missing("Generation yield", "generation")
        return
    needed = {"generation": "planned_candidates", "filter": "planned_filter_samples"}
    for name, key in needed.items():
        if name in phases and not phases[name].planned_units >= counts[key]:
            message = f"Re-projection required: {name} plans fewer units than the yield demands"
            yield Problem(Status.UNKNOWN, "RX353", message, f"{SECTION}.measurements.{name}")


def budget_problems(spec: Spec, wall: float | None, hours: float) -> Iterator[Problem]:
    """Projected wall minutes and GPU hours against the budget."""
    budget = as_object(spec.raw.get("budget"))
    projected = {"max_wall_minutes": (wall or 0) / 60, "gpu_hours": hours}
    for key, value in projected.items():
        limit = budget.get(key)
        if not is_number(value):
            yield Problem(Status.FAILED, "RX354", f"Projection of {key} is not finite", SECTION)
        elif limit is None:
            continue
        elif not is_number(limit):
            message = f"budget.{key} is no number"
            yield Problem(Status.UNKNOWN, "RX355", message, f"$.budget.{key}", "spec")
        elif not value <= limit:
            message = f"Projection of {value:.6g} exceeds budget.{key} {limit:g}"
            yield Problem(Status.FAILED, "RX354", message, SECTION)


def coverage_warnings(spec: Spec, phases: Mapping[str, Phase]) -> Iterator[Problem]:
    """A projection for fewer samples than the plan has is worth a warning."""
    steps = [arm.steps if arm.steps is not None else spec.steps for arm in spec.arms]
    batch, n_eval = spec.batch_size or 0, spec.eval.n_examples or 0
    planned = {
        "training": sum(step or 0 for step in steps) * batch,
        "evaluation": len(spec.arms) * n_eval,
    }
    for name, samples in planned.items():
        if name in phases and not phases[name].planned_samples >= samples * (1 - 1e-9):
            message = f"{name} is projected for fewer samples than the {samples} of the plan"
            yield Problem(Status.PASSED, "RX356", message, f"{SECTION}.measurements.{name}")


def endpoint_warnings(spec: Spec, section: JsonObject) -> Iterator[Problem]:
    """Downsizing keeps the primary endpoint."""
    planned = spec.raw.get("primary_endpoint")
    if planned is not None and not same(section.get("primary_endpoint"), planned):
        message = "the projection does not name the primary endpoint of the plan"
        yield Problem(Status.PASSED, "RX357", message, f"{SECTION}.primary_endpoint")
