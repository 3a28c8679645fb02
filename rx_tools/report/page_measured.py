"""What the preflight measured: activation metrics against their ranges, and the projection."""

from dataclasses import dataclass
from typing import Any

from rx_tools.checks import feasibility
from rx_tools.errors import RxError
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.evidence import Evidence
from rx_tools.model.gates_of_spec import ActivationCheck
from rx_tools.model.json import JsonObject, as_object, is_number
from rx_tools.model.spec import Spec
from rx_tools.planning import evidence_names as names
from rx_tools.report.run_view import RunView


@dataclass(frozen=True, slots=True)
class Metric:
    """One activation metric: what was measured, None if nothing, and what the spec allows."""

    name: str
    value: Any
    allowed: str


def activation_metrics(view: RunView) -> list[Metric]:
    """Every metric of the activation gate, once something was measured."""
    section = as_object(view.record.raw.get("activation_calibration"))
    values = as_object((section or measured(view, names.ACTIVATION)).get("values"))
    if not values:
        return []
    checks = Spec.of(view.spec).activation.checks
    return [Metric(one.metric or "", values.get(one.metric or ""), allowed(one)) for one in checks]


def measured(view: RunView, name: str) -> JsonObject:
    """The section of a preflight file; empty where there is none."""
    path = view.run.newest(name)
    if path is None:
        return {}
    try:
        document = as_object(read_document(path).value)
    except RxError:
        return {}
    return as_object(document.get("activation_calibration"))


def allowed(check: ActivationCheck) -> str:
    """A range in words."""
    if check.one_of is not None:
        return " or ".join(map(str, check.one_of))
    if check.min is not None and check.min == check.max:
        return f"{check.min:g}"
    low = "" if check.min is None else f"at least {check.min:g}"
    high = "" if check.max is None else f"at most {check.max:g}"
    return ", ".join(part for part in (low, high) if part)


def projection(view: RunView) -> list[tuple[str, str]]:
    """What was projected before training, beside what was allowed."""
    details = feasibility.judge(Spec.of(view.spec), view.record, Evidence({})).details
    wall, hours = details.get("wall_seconds"), details.get("gpu_hours")
    budget = as_object(view.spec.get("budget"))
    rows = [
        ("Projected wall time", f"{wall / 60:.1f} min" if is_number(wall) else ""),
        ("Budget of wall time", minutes(budget.get("max_wall_minutes"))),
        ("Projected GPU hours", f"{hours:.2f}" if is_number(hours) else ""),
    ]
    return [(name, text) for name, text in rows if text] if is_number(wall) else []


def minutes(value: object) -> str:
    """A number of minutes."""
    return f"{value:g} min" if is_number(value) else ""
