"""Which served model comes closest to one that is not served (contract §13)."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

NAME = re.compile(
    r"(?P<family>.*?)[-_](?P<size>\d+(?:\.\d+)?)(?P<unit>[bm])(?![a-z0-9])(?P<rest>.*)"
)


@dataclass(frozen=True, slots=True)
class Parts:
    """`Qwen/Qwen3.5-2B-Base` is family `qwen/qwen3.5`, 2e9 parameters, rest `-base`."""

    family: str
    parameters: float
    rest: str


def parts(model: str) -> Parts | None:
    """The parts of a model's name; None where it names no size."""
    match = NAME.fullmatch(model.lower())
    if match is None:
        return None
    unit = 1e9 if match["unit"] == "b" else 1e6
    return Parts(match["family"], float(match["size"]) * unit, match["rest"])


def closest_served(wanted: str, served: Iterable[str]) -> str | None:
    """The served model of the family of `wanted` that is closest in size, None if there is none.

    Among equally close ones the same variant comes first, then the smaller, then the name.
    """
    target = parts(wanted)
    if target is None:
        return None
    family = [
        (known, name)
        for name in served
        if (known := parts(name)) is not None and known.family == target.family
    ]
    if not family:
        return None
    return min(family, key=lambda pair: (*_distance(target, pair[0]), pair[1]))[1]


def _distance(target: Parts, other: Parts) -> tuple[float, bool, float]:
    ratio = abs(math.log(other.parameters / target.parameters))
    return ratio, other.rest != target.rest, other.parameters
