"""Names that documents use for one and the same optimizer or setting."""

from rx_tools.model.json import as_object, as_text

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


def family_of_parameters(name: object) -> str:
    """The family that a step type or a name belongs to: `DimuonParams` is `dimuon`; or empty."""
    if not isinstance(name, str):
        return ""
    plain = family(name.strip().removesuffix("Params"))
    return plain if plain in KNOWN else ""
