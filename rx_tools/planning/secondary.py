"""Secondary evaluations that a spec plans beside its endpoint, and that no arm of a plan runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.model.json import JsonObject, as_object, is_integer

COUNT = re.compile(r"n_(.+)_secondary")


@dataclass(frozen=True, slots=True)
class Secondary:
    """A descriptive evaluation and the number of its items."""

    name: str
    items: int

    def __str__(self) -> str:
        return f"{self.name} ({self.items} items)"


def secondary_evaluations(spec: JsonObject) -> tuple[Secondary, ...]:
    """What the feasibility section counts as `n_<name>_secondary`, in its order."""
    return tuple(
        Secondary(found[1], items)
        for key, items in planned(spec).items()
        if (found := COUNT.fullmatch(key)) and is_integer(items) and items > 0
    )


def drop_secondaries(spec: dict[str, Any]) -> None:
    """Take the counts out of a spec that is being derived."""
    for one in secondary_evaluations(spec):
        del spec["feasibility"]["effective_config"][f"n_{one.name}_secondary"]


def listed(evaluations: Sequence[Secondary]) -> str:
    """`ifeval (541 items), …`."""
    return ", ".join(map(str, evaluations))


def planned(spec: JsonObject) -> Mapping[str, Any]:
    """The configuration that the spec's own feasibility section plans."""
    return as_object(as_object(spec.get("feasibility")).get("effective_config"))
