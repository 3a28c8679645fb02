"""The number behind a learning rate that a spec leaves "frozen" until the selection."""

from rx_tools.checks.optimizers import family
from rx_tools.model.json import as_object, is_number
from rx_tools.model.record import Record
from rx_tools.model.spec import Spec


def is_frozen(value: object) -> bool:
    """Whether a setting waits for the selection: `frozen`, `frozen from selection`."""
    return isinstance(value, str) and value.strip().lower().startswith("frozen")


def selected_rate(spec: Spec, record: Record, arm: str) -> float | None:
    """What `decision.selection.selected` says for an arm, or `None` if that is not unique.

    Keys may be arm names, arm roles (the arm's own `role`, or the start of its name) or optimizers;
    arm names win over roles, roles over optimizers.
    """
    selection = as_object(record.section("decision").get("selection"))
    if selection.get("frozen_before_confirmation") is not True:
        return None
    selected = as_object(selection.get("selected"))
    planned = next((item for item in spec.arms if item.name == arm), None)
    role = planned.raw.get("role") if planned else None
    optimizers = {
        family(str(item.optimizer))
        for item in [planned, *(a for group in spec.restoration.groups for a in group)]
        if item is not None and item.name == arm and item.optimizer
    }
    by_name = [key for key in selected if key == arm]
    by_role = [key for key in selected if key == role or begins(arm, key)]
    by_optimizer = [key for key in selected if family(key) in optimizers]
    keys = by_name or by_role or by_optimizer
    value = selected[keys[0]] if len(keys) == 1 else None
    return float(value) if is_number(value) else None


def begins(arm: str, role: str) -> bool:
    """Whether a name starts with a role as a whole word: `baseline_adamw_s0` with `baseline`."""
    rest = arm[len(role) :]
    return bool(role) and arm.startswith(role) and not rest[:1].isalnum()
