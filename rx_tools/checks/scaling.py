"""Update norms against learning rates: one probe per planned rate, each relative to the first."""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.grading import Check, Problem, number, worst
from rx_tools.model.json import JsonObject, as_list, as_object, is_number
from rx_tools.model.json_path import below
from rx_tools.model.result import Status
from rx_tools.numerics.tolerance import lr_scaling_error


def scaling_check(name: str, plan: JsonObject, recorded: Any, path: str, plan_at: str) -> Check:
    """Whether `(update_norm / learning_rate)` stays within the plan's `rtol` of the first probe."""
    label = f"{name}: lr_scaling"
    probes = [as_object(probe) for probe in as_list(recorded)]
    place = below(path, "lr_scaling")
    problems = (*plan_problems(label, plan, plan_at), *probe_problems(label, plan, probes, place))
    if not problems:
        problems = tuple(limit_problems(label, plan["rtol"], probes, place))
    return Check(label, problems, f"{label} is within its tolerance.")


def plan_problems(label: str, plan: JsonObject, plan_at: str) -> Iterator[Problem]:
    """A plan needs learning rates and a tolerance."""
    rates, rtol = as_list(plan.get("learning_rates")), plan.get("rtol")
    usable = bool(rates) and all(is_number(rate) and rate > 0 for rate in rates)
    if not (usable and is_number(rtol) and rtol >= 0):
        message = f"{label}: learning_rates or rtol is unresolved in the spec."
        place = below(plan_at, "lr_scaling")
        yield Problem(Status.UNVERIFIED, "RX312", message, place, "spec")


def probe_problems(
    label: str, plan: JsonObject, probes: list[JsonObject], place: str
) -> Iterator[Problem]:
    """Exactly one probe per learning rate, each with a number."""
    for rate in as_list(plan.get("learning_rates")):
        found = sum(probe_rate == rate for probe_rate in map(rate_of, probes))
        if is_number(rate) and found != 1:
            message = f"{label}: missing or duplicate probe at learning rate {rate:g}."
            yield Problem(Status.UNVERIFIED, "RX311", message, place)
    for index, probe in enumerate(probes):
        for key in ("learning_rate", "update_norm"):
            status = figures(probe.get(key))
            if status is not Status.PASSED:
                message = f"{label}: {key} of probe {index + 1} is no finite number."
                yield Problem(status, "RX311", message, below(place, index, key))


def rate_of(probe: JsonObject) -> float | None:
    """The learning rate of a probe, if it is a number."""
    rate = probe.get("learning_rate")
    return float(rate) if is_number(rate) else None


def figures(value: object) -> Status:
    """A number, or one number per factor."""
    if isinstance(value, Mapping) and value:
        return worst(number(item) for item in value.values())
    return number(value)


def limit_problems(
    label: str, rtol: float, probes: list[JsonObject], place: str
) -> Iterator[Problem]:
    """The largest relative change against the tolerance; a change that is undefined fails."""
    error = lr_scaling_error(probes)
    if not error <= rtol:
        message = f"{label}: update_norm / learning_rate changes by {error:.6g}, allowed {rtol:g}."
        yield Problem(Status.FAILED, "RX315", message, place)
