"""The number behind a learning rate that a spec leaves "frozen" until the selection."""

from rx_tools.checks.optimizers import family
from rx_tools.checks.roles import role_of
from rx_tools.model.json import as_object, is_number
from rx_tools.model.record import Record
from rx_tools.model.spec import Arm, Spec


def is_frozen(value: object) -> bool:
    """Whether a setting waits for the selection: `frozen`, `frozen from selection`."""
    return isinstance(value, str) and value.strip().lower().startswith("frozen")


def selected_rate(spec: Spec, record: Record, arm: str) -> float | None:
    """What `decision.selection.selected` says for an arm, or `None` if that is not unique.

    Its keys are arm roles (or arm names), else optimizers.
    """
    selection = as_object(record.section("decision").get("selection"))
    if selection.get("frozen_before_confirmation") is not True:
        return None
    selected = as_object(selection.get("selected"))
    planned = next((item for item in spec.arms if item.name == arm), Arm.of({"name": arm}))
    asked = optimizers_of(spec, planned)
    by_optimizer = [key for key in selected if family(key) in asked]
    key = role_of(planned, tuple(selected)) or (by_optimizer[0] if len(by_optimizer) == 1 else "")
    value = selected.get(key)
    return float(value) if is_number(value) else None


def optimizers_of(spec: Spec, arm: Arm) -> set[str]:
    """The families of the optimizers that the spec requests for an arm."""
    requested = [
        item.optimizer
        for group in spec.restoration.groups
        for item in group
        if item.name == arm.name
    ]
    return {family(name) for name in (arm.optimizer, *requested) if name}
