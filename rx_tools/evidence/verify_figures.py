"""The evidence level, figures: what the record tells beside its sections is derived again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rx_tools.checks.loss_items import ArmItems, agree, items_by_arm
from rx_tools.evidence.claim import Claim, contradicted, incomplete, verified
from rx_tools.evidence.layout import RECORD
from rx_tools.evidence.timeline import Timeline
from rx_tools.evidence.verify_feasibility import whole_plan
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.record import Record
from rx_tools.planning import evidence_names as names
from rx_tools.planning.figures import (
    BASE_FIGURE,
    arm_figures,
    closing_summary,
    decision_figures,
    numbers_in,
)


def verify_figures(
    record: Record, evidence: Evidence, history: Timeline, criteria: Sequence[JsonObject]
) -> Iterator[Claim]:
    """Every figure of `metrics` and of `evidence.per_arm_metrics`, from rows, ledger and decision.

    `criteria` are those of the decision gate's answer.
    """
    items = items_by_arm(record, evidence)
    base = {BASE_FIGURE: items[names.BASE].sums["token_mean"]} if names.BASE in items else {}
    whole = {**record.metrics}
    arms = {"metrics.arms": whole.pop("arms", None)}
    arms["evidence.per_arm_metrics"] = record.section("evidence").get("per_arm_metrics")
    faults = [*compared("metrics", whole, base | decision_figures(criteria))]
    for place, stated in arms.items():
        for arm, figures in as_object(stated).items():
            derived = derived_figures(arm, items, history)
            faults += compared(f"{place} of {arm}", as_object(figures), derived)
    yield from faults
    if not faults:
        yield verified("figures", "metrics and per_arm_metrics were derived again")


def derived_figures(arm: str, items: Mapping[str, ArmItems], history: Timeline) -> dict[str, Any]:
    """The figures of an arm that was finished and scored; of any other there are none."""
    told = history.arm(arm)
    if arm not in items or told.finished is None:
        return {}
    losses = [row.get("train_nll") for row in told.rows]
    return arm_figures(items[arm].sums, told.finished.data.get("steps"), losses)


def compared(place: str, stated: JsonObject, derived: JsonObject) -> Iterator[Claim]:
    """What is stated otherwise than it is derived, and what nothing derives."""
    for key, value in stated.items():
        subject = f"{RECORD} {place}"
        if key not in derived:
            yield incomplete(subject, f"nothing in the bundle derives {key}")
        elif not agree(value, derived[key]):
            yield contradicted(
                subject, f"{key} is stated as {value!r}, derived is {derived[key]!r}"
            )


def verify_summary(
    record: Record,
    plan: JsonObject,
    spec: JsonObject,
    history: Timeline,
    criteria: Sequence[JsonObject],
) -> Iterator[Claim]:
    """The numbers in the sentences of a run that came to its end; their words are prose."""
    frozen = whole_plan(plan)
    if record.status != "succeeded" or frozen is None:
        return
    accepted = [str(data.get("gate")) for data in history.data("unverified_accepted")]
    reason = record.outcome_reason or ""
    derived = closing_summary(frozen, spec.get("base_model"), accepted, criteria, reason)
    if numbers_in(record.summary or "") == numbers_in(derived):
        yield verified("summary", "states the numbers of the plan and of the decision")
    else:
        message = f"states the numbers {numbers_in(record.summary or '')}, derived is: {derived}"
        yield contradicted(f"{RECORD} summary", message)
