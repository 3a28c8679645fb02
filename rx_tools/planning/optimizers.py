"""Which optimizer an arm asks for, under the name that the service knows."""

from collections.abc import Mapping
from typing import Any

from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_number
from rx_tools.planning.plan import PlannedOptimizer

SERVICE_NAME = {
    "adam": "adamw",
    "adamw": "adamw",
    "dimuon": "dimuon",
    "dimuon-lite": "dimuon",
}
"""Names seen in specs → the service's own; any other name travels as it is."""

DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "adamw": {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8},
    "dimuon": {"beta1": 0.9, "grad_clip_norm": 0.0},
}
"""What the stock recipe (AdamW) and the published parameters (dimuon) use when a spec is silent."""

RATE_KEYS = ("lr", "learning_rate")


def service_name(name: str) -> str:
    """The optimizer type under which the service knows `name`."""
    return SERVICE_NAME.get(name.strip().lower(), name.strip())


def restoration_entries(spec: JsonObject) -> dict[str, tuple[int, JsonObject]]:
    """Arm name → (group number, its entry) of the restoration groups."""
    groups = as_list(as_object(spec.get("restoration_preflight")).get("groups"))
    return {
        as_text(as_object(entry).get("name")): (number, as_object(entry))
        for number, group in enumerate(groups)
        for entry in as_list(as_object(group).get("arms"))
    }


def parameters_of(config: Any) -> dict[str, float]:
    """The numeric parameters of an `optimizer_config`, without the learning rate."""
    return {
        key: float(value)
        for key, value in as_object(config).items()
        if key not in RATE_KEYS and is_number(value)
    }


def planned_optimizer(spec: JsonObject, arm: JsonObject) -> PlannedOptimizer:
    """The arm's own optimizer, else its restoration entry's, else the spec's."""
    entries = restoration_entries(spec)
    entry = entries.get(as_text(arm.get("name")), (None, {}))[1]
    named = arm.get("optimizer") or entry.get("optimizer")
    named = named or as_object(spec.get("optimizer")).get("name") or ""
    kind = service_name(as_text(named) or as_text(as_object(named).get("name")))
    stated = parameters_of(arm.get("optimizer_config") or entry.get("optimizer_config"))
    return PlannedOptimizer(kind, stated or shared_parameters(entries, kind))


def shared_parameters(entries: Mapping[str, tuple[int, JsonObject]], kind: str) -> dict[str, float]:
    """Parameters that every restoration entry of this optimizer agrees on, else the defaults."""
    stated = [
        parameters_of(entry.get("optimizer_config"))
        for _, entry in entries.values()
        if service_name(as_text(entry.get("optimizer"))) == kind
    ]
    agreed = bool(stated) and all(one == stated[0] for one in stated)
    return stated[0] if agreed else dict(DEFAULTS.get(kind, {}))
