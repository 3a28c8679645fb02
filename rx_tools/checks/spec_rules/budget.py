"""The budget can hold the plan, and the figures of the plan agree with each other.

**What.** `budget.max_wall_minutes` is a positive number; where the spec carries measured timings,
their projection fits it; counts that the spec repeats (`arms`, `steps`, `planned_arm_steps`,
batch size, examples) are the counts of its own arms.

**Why.** A budget that is smaller than the projection stops the run before its primary comparison,
and a plan that contradicts itself is timed and projected for the wrong work.

**Fix.** Raise the budget, or drop secondary evaluations first, then extra seeds or learning-rate
points; never the primary endpoint. Correct the repeated figures.

**Source.** Exchange contract, section 6.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.roles import is_selection
from rx_tools.checks.ruling import on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_object, is_number
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX170": "the budget cannot hold the plan",
    "RX171": "a planned figure contradicts the spec's own",
    "RX172": "there is no budget to compare the projection with",
}

FEASIBILITY = "$.feasibility.effective_config"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    return ruled([*budget(spec), *figures(spec)])


def budget(spec: Spec) -> Iterator[Finding]:
    """The wall-clock budget against nothing at all, and against measured timings."""
    minutes = spec.budget.max_wall_minutes
    if minutes is None:
        message = "budget.max_wall_minutes is not stated"
        if spec.feasibility_required is True:
            yield on_spec("RX172", Level.UNVERIFIED, message, "$.budget")
        return
    needed = projected_seconds(as_object(spec.raw.get("feasibility")))
    if not minutes > 0:
        message = f"a budget of {minutes:g} minutes holds no run"
        yield on_spec("RX170", Level.ERROR, message, "$.budget.max_wall_minutes")
    elif needed > minutes * 60:
        message = f"the measured phases need {needed / 60:.1f} minutes, the budget has {minutes:g}"
        yield on_spec("RX170", Level.ERROR, message, "$.budget.max_wall_minutes")


def projected_seconds(feasibility: JsonObject) -> float:
    """Seconds of the phases that carry measurements, plus the reserve."""
    total = 0.0
    for phase in as_object(feasibility.get("measurements")).values():
        timing = as_object(phase)
        seconds, units, planned = (timing.get(k) for k in ("seconds", "units", "planned_units"))
        if is_number(seconds) and is_number(units) and is_number(planned) and units > 0:
            total += seconds / units * planned
    reserve = as_object(feasibility.get("recovery")).get("seconds")
    return total + (reserve if is_number(reserve) else 0.0)


def own_figures(spec: Spec) -> Mapping[str, object]:
    """The spec's own figures, by the names under which a configuration repeats them."""
    steps = [arm.steps if arm.steps is not None else spec.steps for arm in spec.arms]
    known = [count for count in steps if count is not None]
    selecting = [arm.steps for arm in spec.arms if is_selection(arm)]
    return {
        "base_model": spec.base_model,
        "lora_rank": spec.lora_rank,
        "dataset": spec.dataset.hf_path,
        "batch_size": spec.batch_size,
        "max_seq_len": spec.max_seq_len,
        "steps": spec.steps,
        "confirmation_steps": spec.steps,
        "selection_steps": selecting[0] if len(set(selecting)) == 1 else None,
        "arms": len(spec.arms) or None,
        "n_examples": spec.dataset.n_examples,
        "n_eval": spec.eval.n_examples,
        "planned_arm_steps": sum(known) if known and len(known) == len(spec.arms) else None,
    }


def figures(spec: Spec) -> Iterator[Finding]:
    """Every figure that the planned configuration repeats."""
    own = own_figures(spec)
    config = as_object(as_object(spec.raw.get("feasibility")).get("effective_config"))
    for key, value in config.items():
        expected = own.get(key)
        if expected is not None and value != expected:
            message = f"{key} is {value} here, but {expected} in the spec"
            yield on_spec("RX171", Level.ERROR, message, below(FEASIBILITY, key))
