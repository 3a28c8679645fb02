"""What each activation metric is measured from, on which arms, and when it can be known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.planning.plan import PlannedArm, PlannedMetric


class When(StrEnum):
    """`pilot`: measured in the pilot; `schedule`: bound by the plan, measured again afterwards."""

    PILOT = "pilot"
    SCHEDULE = "schedule"
    SUPPLIED = "supplied"


@dataclass(frozen=True, slots=True)
class MetricKind:
    """A family of metric names and where their values come from."""

    pattern: re.Pattern[str]
    source: str
    when: When
    treatment_only: bool = False


KINDS = (
    MetricKind(
        re.compile(r"executed_learning_rate(_\w+)?"),
        "the base rate passed to every optim_step; the schedule stands beside it",
        When.SCHEDULE,
    ),
    MetricKind(re.compile(r"executed_steps"), "acknowledged updates per arm", When.SCHEDULE),
    MetricKind(re.compile(r"executed_batch_size"), "examples per optimizer step", When.SCHEDULE),
    MetricKind(
        re.compile(r"batch_hash_match_across_arms"),
        "share of batches with one token-id hash between the paired arms of a seed",
        When.SCHEDULE,
    ),
    MetricKind(
        re.compile(r"executed_base_model"), "the server's get_info of the pilot", When.PILOT
    ),
    MetricKind(re.compile(r"executed_lora_rank"), "the server's get_info of the pilot", When.PILOT),
    MetricKind(
        re.compile(r"executed_optimizer_step_type"),
        "the type of the parameters passed to optim_step",
        When.PILOT,
        treatment_only=True,
    ),
    MetricKind(
        re.compile(r"(pilot_)?train_nll_drop(_\w+)?"),
        "token-mean training loss of step 0 minus that of step 10",
        When.PILOT,
        treatment_only=True,
    ),
    MetricKind(
        re.compile(r"\w*_B_update_normalized_stable_rank_step1"),
        "adapters downloaded at steps 0 and 1, mean over the layers",
        When.PILOT,
        treatment_only=True,
    ),
)


def kind_of(metric: str) -> MetricKind | None:
    """The family of a metric name, None when nobody here measures it."""
    return next((kind for kind in KINDS if kind.pattern.fullmatch(metric)), None)


def treatment_role(roles: Sequence[str]) -> str:
    """The role called `treatment`, else the last one that the decision rule weighs."""
    if "treatment" in roles:
        return "treatment"
    return roles[-1] if roles else ""


def concerned(
    metric: str, kind: MetricKind, arms: Sequence[PlannedArm], treatment: str
) -> tuple[PlannedArm, ...]:
    """The confirmation arms that a metric speaks of: a role in its name, else all or treatment."""
    confirming = [arm for arm in arms if arm.phase == "confirmation"]
    named = tuple(arm for arm in confirming if arm.role and metric.endswith(f"_{arm.role}"))
    if named:
        return named
    return tuple(arm for arm in confirming if not kind.treatment_only or arm.role == treatment)


def planned_metrics(
    spec: JsonObject, arms: Sequence[PlannedArm], roles: Sequence[str]
) -> tuple[PlannedMetric, ...]:
    """Every check's metric; one that nobody measures waits for a supplied value."""
    checks = as_list(as_object(spec.get("activation_gate")).get("checks"))
    names = [as_text(as_object(check).get("metric")) for check in checks]
    return tuple(planned_metric(name, arms, treatment_role(roles)) for name in names if name)


def planned_metric(name: str, arms: Sequence[PlannedArm], treatment: str) -> PlannedMetric:
    """One metric with its source and its arms."""
    kind = kind_of(name)
    if kind is None:
        return PlannedMetric(name, "not measured here: supply it with --metrics", (), "supplied")
    found = concerned(name, kind, arms, treatment)
    return PlannedMetric(name, kind.source, tuple(arm.name for arm in found), kind.when.value)
