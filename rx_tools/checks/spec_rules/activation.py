"""The activation checks can be met by the planned run, and can fail when it goes wrong.

**What.** An applicable gate has checks; each range is not empty and contains the figure that the
spec itself plans (steps, batch size, rank, model, learning rates); a `one_of` over optimizers does
not accept one and the same optimizer in arms that must differ.

**Why.** A range that excludes the planned figure closes the gate for good: ranges stay fixed once
the spec is saved. A `one_of` of both optimizers is satisfied when every arm ran the same one, which
is exactly the failure that the check should find.

**Fix.** Correct the range before the spec is saved. Check optimizers per role
(`executed_optimizer_step_type_treatment` with one accepted value each).

**Source.** Exchange contract, section 5.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.optimizers import family
from rx_tools.checks.ruling import objects_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_list, as_object, as_text, is_number
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX150": "a check accepts the same optimizer in arms that must differ",
    "RX151": "the range of a check is empty",
    "RX152": "the gate applies but has no checks",
    "RX153": "a check excludes what the spec plans",
}

CHECKS = "$.activation_gate.checks"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone; not applicable without an applicable activation gate."""
    if spec.activation.applicable is not True:
        return Result(Status.NOT_APPLICABLE)
    checks = list(objects_at(as_object(spec.activation.raw).get("checks"), CHECKS))
    if not checks:
        message = "activation_gate applies, but there is nothing to measure"
        return ruled([on_spec("RX152", Level.ERROR, message, "$.activation_gate")])
    planned = planned_figures(spec)
    found: list[Finding] = []
    for path, check in checks:
        found += [*empty_range(path, check), *blind(path, check, spec)]
        found += excluded(path, check, planned)
    return ruled(found)


def planned_figures(spec: Spec) -> Mapping[str, object]:
    """What the spec itself plans, by the name of the metric that measures it."""
    rates = {arm.lr for arm in spec.arms}
    return {
        "executed_base_model": spec.base_model,
        "executed_steps": spec.steps,
        "executed_batch_size": spec.batch_size,
        "executed_lora_rank": spec.lora_rank,
        "executed_max_seq_len": spec.max_seq_len,
        "executed_learning_rate": rates.pop() if len(rates) == 1 else None,
    }


def empty_range(path: str, check: Mapping[str, Any]) -> Iterator[Finding]:
    """No value lies in an empty range."""
    low, high = check.get("min"), check.get("max")
    if is_number(low) and is_number(high) and low > high:
        message = f"no value is at least {low:g} and at most {high:g}"
        yield on_spec("RX151", Level.ERROR, message, path)


def blind(path: str, check: Mapping[str, Any], spec: Spec) -> Iterator[Finding]:
    """A list of optimizers that any single one of them satisfies."""
    metric, accepted = as_text(check.get("metric")), as_list(check.get("one_of"))
    families = {family(arm.optimizer) for arm in spec.arms if arm.optimizer is not None}
    if "optimizer" in metric and len(accepted) > 1 and len(families) > 1:
        message = f"{metric} passes when every arm ran the same optimizer"
        hint = "check it per role, with one accepted value each"
        yield on_spec("RX150", Level.WARNING, message, below(path, "one_of"), hint)


def excluded(
    path: str, check: Mapping[str, Any], planned: Mapping[str, object]
) -> Iterator[Finding]:
    """The planned figure must itself be accepted."""
    metric = as_text(check.get("metric"))
    value = planned.get(metric)
    if value is None or accepts(check, value):
        return
    message = f"{metric} is planned as {value}, which the check refuses"
    yield on_spec("RX153", Level.ERROR, message, path, "ranges stay fixed once the spec is saved")


def accepts(check: Mapping[str, Any], value: object) -> bool:
    """Whether a value lies within `min`, `max` and `one_of`, limits included."""
    if "one_of" in check and value not in as_list(check["one_of"]):
        return False
    if not is_number(value):
        return True
    low, high = check.get("min", value), check.get("max", value)
    return bool(is_number(low) and is_number(high) and low <= value <= high)
