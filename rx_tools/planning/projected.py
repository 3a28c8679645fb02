"""What the frozen plan fixes of the feasibility section: its units, samples and configuration."""

from collections.abc import Iterator, Mapping

from rx_tools.checks.grading import same, shown
from rx_tools.checks.hints import HINTS
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.result import Finding, Level
from rx_tools.planning.plan import Plan


def planned_units(plan: Plan) -> dict[str, int]:
    """Phase → its units in the whole plan: setups of arms, training steps, scored items.

    The base model and the confirmation arms are scored on the confirmation items, each selection
    arm on the rows that were held out.
    """
    confirmation = (len(plan.confirmation) + 1) * plan.data.n_eval
    return {
        "setup": len(plan.arms),
        "training": sum(arm.steps for arm in plan.arms),
        "evaluation": confirmation + len(plan.selection) * plan.data.held_out,
    }


def projection_findings(section: JsonObject, plan: Plan, spec: JsonObject) -> Iterator[Finding]:
    """The same faults as findings on a record that lies beside its plan."""
    for fault in projection_faults(section, plan, spec):
        yield Finding("RX358", Level.ERROR, fault, "$.feasibility", HINTS["RX358"], "record")


def samples_per_unit(spec: JsonObject) -> dict[str, object]:
    """Phase → samples of one unit: a step trains a batch, an item is one sample."""
    return {"training": spec.get("batch_size"), "evaluation": 1}


def projection_faults(section: JsonObject, plan: Plan, spec: JsonObject) -> Iterator[str]:
    """Each figure of a recorded `feasibility` section that plan or spec determine otherwise."""
    stated = as_object(section.get("measurements"))
    for phase, units in planned_units(plan).items():
        found = as_object(stated.get(phase))
        if found:
            yield from differing(found, {"planned_units": units}, f"measurements.{phase}")
    for phase, each in samples_per_unit(spec).items():
        found = as_object(stated.get(phase))
        if found and not is_multiple(found.get("samples"), found.get("units"), each):
            figures = f"{shown(found.get('samples'))} samples of {shown(found.get('units'))} units"
            yield f"measurements.{phase} counts {figures}, the plan has {shown(each)} a unit"
    for name in ("config", "effective_config"):
        yield from differing(as_object(section.get(name)), plan.effective_config, name)
    if "primary_endpoint" in spec:
        endpoint = {"primary_endpoint": spec["primary_endpoint"]}
        yield from differing(section, endpoint, "feasibility")


def differing(stated: JsonObject, planned: Mapping[str, object], place: str) -> Iterator[str]:
    """The members that are stated otherwise than planned; absent ones are the gate's business."""
    for key, value in planned.items():
        if key in stated and not same(stated[key], value):
            yield f"{place}.{key} is stated as {shown(stated[key])}, planned is {shown(value)}"


def is_multiple(samples: object, units: object, each: object) -> bool:
    """Whether so many samples are those of so many units; true where nothing is stated."""
    if None in (samples, units, each):
        return True
    return bool(
        isinstance(samples, int | float)
        and isinstance(units, int | float)
        and isinstance(each, int | float)
        and samples == units * each
    )
