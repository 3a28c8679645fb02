"""How much of a known movement is in another one: a matched filter over all tokens.

Noise is independent from token to token, a step is not: projecting on the direction of a known
movement shows a step that the root mean square of the noise would hide. What all tokens of a
forward have in common is left out, because one forward's common offset is noise as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rx_tools.runner.probes.bench import Logprobs

CLEAR = 5.0
"""Standard deviations by which two independent measurements of a direction must agree."""

FACTOR = 1.5
"""A share counts beyond this many times the largest share between two equal forwards."""

ALARM = 2.0
"""A share raises an alarm beyond this many limits only: equal forwards are few."""

SHARP = 0.25
"""Above this limit a share says nothing."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Equal forwards before a step, and equal forwards after it."""

    before: Sequence[Logprobs]
    after: Sequence[Logprobs]


@dataclass(frozen=True, slots=True)
class Direction:
    """A movement, its power free of noise, and whether it stands out from the noise."""

    vector: Logprobs
    power: float
    clear: bool


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a direction a movement holds: 1 for the same movement, 0 for none."""

    value: float
    limit: float
    clear: bool

    @property
    def sharp(self) -> bool:
        """Whether the noise leaves anything to be said."""
        return self.clear and self.limit <= SHARP

    @property
    def is_none(self) -> bool:
        """Whether nothing of the direction is there, and would have been seen."""
        return self.sharp and abs(self.value) <= self.limit

    def at_least(self, part: float) -> bool:
        """Whether at least this part of the direction is there, beyond the noise."""
        return self.clear and self.value > ALARM * self.limit and self.value >= part

    def figures(self) -> dict[str, float | bool]:
        """Plain JSON."""
        return {"share": self.value, "limit": self.limit, "sharp": self.sharp}


def direction(sides: Sides) -> Direction:
    """The movement between two groups of two or more forwards, from independent halves."""
    halves = [moved(sides.before[part::2], sides.after[part::2]) for part in (0, 1)]
    power = float(np.vdot(*halves))
    sizes = math.sqrt(float(np.vdot(halves[0], halves[0]) * np.vdot(halves[1], halves[1])))
    clear = sizes > 0 and power / sizes * math.sqrt(halves[0].size) >= CLEAR
    return Direction((halves[0] + halves[1]) / 2, power, clear)


def share(sides: Sides, along: Direction) -> Share:
    """The share of a direction in another movement; never clear where the direction is not."""
    if not along.clear:
        return Share(math.nan, math.nan, False)
    equal = [
        abs(projected(moved([left], [right]), along))
        for group in (sides.before, sides.after)
        for left, right in combinations(group, 2)
    ]
    found = projected(moved(sides.before, sides.after), along)
    return Share(found, FACTOR * max(equal) + 1e-3, True)


def moved(before: Sequence[Logprobs], after: Sequence[Logprobs]) -> Logprobs:
    """The mean movement of each token, without what all tokens have in common."""
    vector = np.mean(np.stack(after), axis=0) - np.mean(np.stack(before), axis=0)
    centred: Logprobs = vector - vector.mean()
    return centred


def projected(vector: Logprobs, along: Direction) -> float:
    """The vector's coordinate along the direction, in units of the direction."""
    return float(np.vdot(vector, along.vector)) / along.power
