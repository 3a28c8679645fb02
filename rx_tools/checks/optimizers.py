"""Names that documents use for one and the same optimizer or setting."""

from dataclasses import dataclass, field
from typing import Any

from rx_tools.model.json import JsonObject, as_object, as_text

FAMILIES = {"adam": "adamw", "dimuon-lite": "dimuon", "dimuon_lite": "dimuon"}
KNOWN = ("adamw", "dimuon")
SETTINGS = {"lr": "learning_rate"}


def family(name: str) -> str:
    """The optimizer family behind a name: `adam` is `adamw`, `dimuon-lite` is `dimuon`."""
    plain = name.strip().lower()
    return FAMILIES.get(plain, plain)


def setting(name: str) -> str:
    """The setting behind a name: `lr` is `learning_rate`."""
    return SETTINGS.get(name, name)


def reported(actual: object) -> str:
    """The optimizer that a server response showed: its name, or its `type`; empty if neither."""
    return as_text(actual) or as_text(as_object(actual).get("type"))


@dataclass(frozen=True, slots=True)
class Shown:
    """What a server showed of a live optimizer: its type, empty if none, and its settings."""

    type: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


def shown(seen: JsonObject) -> Shown:
    """From a ledger's `observation` (that of the last step) or, without one, its echo `actual`."""
    observed, actual = as_object(seen.get("observation")), as_object(seen.get("actual"))
    settings = dict(as_object(observed.get("last")) or actual)
    settings.pop("type", None)
    return Shown(reported(observed.get("optimizer")) or reported(actual), settings)


def family_of_parameters(name: object) -> str:
    """The family that a step type or a name belongs to: `DimuonParams` is `dimuon`; or empty."""
    if not isinstance(name, str):
        return ""
    plain = family(name.strip().removesuffix("Params"))
    return plain if plain in KNOWN else ""
