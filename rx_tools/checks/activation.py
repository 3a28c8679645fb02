"""The treatment is really active, and the executed configuration is the planned one.

**What.** Every metric of `activation_gate.checks` has one measured value in
`activation_calibration.values`, within `min` and `max` (inclusive) or among `one_of`.

**Why.** Two arms that ran the same optimizer give a perfectly clean, perfectly empty comparison.

**Fix.** Run the pilot in the exact regime of the full run and record each metric by name. The
ranges of the spec stay fixed; a missing or out-of-range value means no full training.

**Source.** Exchange contract, section 5.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.grading import (
    Check,
    Problem,
    gate_of_checks,
    number,
    same,
    shown,
)
from rx_tools.checks.optimizers import family_of_parameters
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_number
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX340": "the gate applies but the spec names no usable check",
    "RX341": "the value of a metric was not recorded",
    "RX342": "the value of a metric is out of its range",
    "RX343": "the arms concerned disagree on a metric",
    "RX344": "the value of a metric is malformed",
    "RX345": "the value is among the accepted ones, but not what the treatment arm declares",
}

SECTION = "activation_calibration"
PASSED = "Every activation metric was measured and lies in its range."


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The activation gate; `details` is in the style of the server's answers. Never raises."""
    applies = check_applicability(spec.raw, Gate.ACTIVATION)
    return gate_of_checks(applies, all_checks(spec, record), PASSED)


def all_checks(spec: Spec, record: Record) -> Iterator[Check]:
    """One check per planned metric, in the order of the spec."""
    planned = [as_object(check) for check in as_list(spec.activation.raw.get("checks"))]
    if not planned:
        message = "spec.activation_gate names no checks."
        place = "$.activation_gate.checks"
        problem = Problem(Status.UNVERIFIED, "RX340", message, place, "spec")
        yield Check("activation_gate", (problem,))
    values = as_object(record.section(SECTION).get("values"))
    for index, plan in enumerate(planned):
        name = as_text(plan.get("metric")) or f"check {index + 1}"
        place = below("$", SECTION, "values", name)
        problems = tuple(metric_problems(name, plan, values.get(name), spec, place))
        yield Check(name, problems, f"{name}: {shown(values.get(name))} is accepted.")


def metric_problems(
    name: str, plan: JsonObject, value: Any, spec: Spec, place: str
) -> Iterator[Problem]:
    """One value against its range or its list."""
    choices, bounds = plan.get("one_of"), [plan.get(key) for key in ("min", "max")]
    limits = [bound for bound in bounds if bound is not None]
    usable = isinstance(choices, list) or limits
    if not (plan.get("metric") and usable and all(map(is_number, limits))):
        message = f"{name}: the spec accepts no resolved range."
        yield Problem(Status.UNVERIFIED, "RX340", message, "$.activation_gate.checks", "spec")
        return
    problem = shape_problem(name, value, place)
    if problem:
        yield problem
        return
    if limits:
        yield from range_problems(name, plan, value, place)
    if isinstance(choices, list):
        yield from choice_problems(name, choices, value, spec, place)


def shape_problem(name: str, value: Any, place: str) -> Problem | None:
    """Why a value is not the one scalar that every arm concerned has."""
    if value is None or value in ({}, ""):
        return Problem(Status.UNVERIFIED, "RX341", f"{name}: not recorded.", place)
    if isinstance(value, Mapping) and differ(list(value.values())):
        return Problem(Status.FAILED, "RX343", f"{name}: the arms concerned differ.", place)
    if isinstance(value, list | Mapping):
        return Problem(Status.INVALID, "RX344", f"{name}: one scalar is expected.", place)
    return None


def differ(values: list[Any]) -> bool:
    """Whether a list holds two different values."""
    return not all(same(value, values[0]) for value in values)


def range_problems(name: str, plan: JsonObject, value: Any, place: str) -> Iterator[Problem]:
    """Limits are inclusive; a value that is not finite lies nowhere."""
    status = number(value)
    if status is not Status.PASSED:
        message = f"{name}: {shown(value)} is no finite number."
        yield Problem(status, "RX344", message, place)
        return
    low, high = plan.get("min"), plan.get("max")
    if not ((low is None or low <= value) and (high is None or value <= high)):
        message = f"{name}: {shown(value)} is outside [{low}, {high}]."
        yield Problem(Status.FAILED, "RX342", message, place)


def choice_problems(
    name: str, choices: list[Any], value: Any, spec: Spec, place: str
) -> Iterator[Problem]:
    """The value must be listed; an optimizer must also be the one that the treatment declares."""
    if isinstance(value, float) and number(value) is not Status.PASSED:
        yield Problem(Status.FAILED, "RX344", f"{name}: {shown(value)} is no finite number.", place)
        return
    if not any(same(value, choice) for choice in choices):
        message = f"{name}: {shown(value)} is not one of {shown(choices)}."
        yield Problem(Status.FAILED, "RX342", message, place)
        return
    ran = family_of_parameters(value)
    declared = family_of_parameters(spec.optimizer_name)
    if ran and declared and ran != declared:
        message = f"{name}: {shown(value)} is accepted, but the treatment declares {declared}."
        yield Problem(Status.FAILED, "RX345", message, place)
