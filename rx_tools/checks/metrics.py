"""The metrics of a record: finite, and there for every completed arm."""

from collections.abc import Iterator, Mapping

from rx_tools.checks.grading import Problem, number
from rx_tools.model.json import as_list, as_object
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.spec import Spec


def arm_problems(spec: Spec, record: Record) -> Iterator[Problem]:
    """Completed arms are distinct arms of the spec, each with its metrics."""
    listed, place = record.raw.get("completed_arms"), "$.completed_arms"
    if not isinstance(listed, list):
        status = Status.UNVERIFIED if listed is None else Status.INVALID
        yield Problem(status, "RX395", "record: completed_arms is no list.", place)
    for index, name in enumerate(as_list(listed)):
        at = below(place, index)
        if not isinstance(name, str) or name in as_list(listed)[:index]:
            message = "record: completed_arms holds distinct arm names."
            yield Problem(Status.INVALID, "RX395", message, at)
        elif spec.arm_names and name not in spec.arm_names:
            yield Problem(Status.FAILED, "RX395", f"{name}: no arm of the spec.", at)
        elif not record.arm_metrics.get(name):
            message = f"{name}: completed without metrics under metrics.arms."
            yield Problem(Status.UNVERIFIED, "RX395", message, at)


def metric_problems(record: Record) -> Iterator[Problem]:
    """Every metric, overall and per arm, is a finite number."""
    metrics = record.raw.get("metrics")
    if not isinstance(metrics, Mapping):
        status = Status.UNVERIFIED if metrics is None else Status.INVALID
        yield Problem(status, "RX396", "record: metrics is no object.", "$.metrics")
    overall = {name: value for name, value in record.metrics.items() if name != "arms"}
    yield from not_finite(overall, "$.metrics")
    arms = record.metrics.get("arms")
    if arms is not None and not isinstance(arms, Mapping):
        yield Problem(Status.INVALID, "RX396", "metrics.arms is no object.", "$.metrics.arms")
    for arm, values in as_object(arms).items():
        yield from not_finite(as_object(values), below("$.metrics", "arms", arm))


def not_finite(values: Mapping[str, object], path: str) -> Iterator[Problem]:
    """A problem for each value that is no finite number."""
    for name, value in values.items():
        status = number(value)
        if status is not Status.PASSED:
            message = f"metrics: {name} is no finite number."
            yield Problem(status, "RX396", message, below(path, name))
