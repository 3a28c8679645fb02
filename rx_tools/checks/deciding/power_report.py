"""What a frozen rule can be expected to say, for a declared or piloted standard deviation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from rx_tools.checks.deciding.rule import FrozenCriterion, FrozenRule, finite, read_rule
from rx_tools.errors import DocumentError
from rx_tools.numerics import power as numbers
from rx_tools.numerics.power import USUAL_POWER, Design


@dataclass(frozen=True, slots=True)
class CriterionPower:
    """One criterion's prospects. Probabilities hold for the true effect `effect`.

    `smallest_effect` is supported with probability `power`; `seeds_needed` is None where the
    effect does not exceed the margin. `definitive_margin` and `definitive_band` are the chances of
    a definitive verdict under each reading, after the chance that no selected rate is at an edge.
    """

    id: str
    n: int
    comparisons: int
    margin: float
    sd: float
    effect: float
    power: float
    tcrit: float
    smallest_effect: float
    seeds_needed: int | None
    p_supported: float
    p_refuted_margin: float
    p_refuted_band: float
    p_tie: float
    p_no_edge: float

    @property
    def definitive_margin(self) -> float:
        """Supported or refuted under the margin reading."""
        return self.p_no_edge * min(self.p_supported + self.p_refuted_margin, 1.0)

    @property
    def definitive_band(self) -> float:
        """Supported or refuted under the band reading."""
        return self.p_no_edge * min(self.p_supported + self.p_refuted_band, 1.0)


def power_report(
    rule: object,
    sd: float | Mapping[str, float],
    *,
    effect: float | Mapping[str, float] | None = None,
    power: float = USUAL_POWER,
    grid_sizes: Sequence[int] = (),
) -> tuple[CriterionPower, ...]:
    """The prospects of every criterion of a rule.

    `sd` is the standard deviation of the effect over seeds, in the metric's units, for all criteria
    or by criterion id; `effect` the true effect, by default the smallest one that is supported with
    probability `power`. `grid_sizes` are the numbers of rates that each optimizer is searched over:
    any of them may be selected, and one at an edge forbids a definitive verdict.
    Raises `DocumentError` for a rule that cannot be applied or a deviation that is none.
    """
    frozen, issues = read_rule(rule)
    if frozen is None:
        raise DocumentError(str(issues[0]), where=issues[0].place)
    if frozen.method != "paired_t" or len(frozen.seeds) < 2:
        raise DocumentError("only paired_t over two seeds or more has a power to state")
    no_edge = prod(map(numbers.interior_choice, grid_sizes))
    return tuple(
        prospects(frozen, criterion, of(sd, criterion, "sd"), effect, power, no_edge)
        for criterion in frozen.criteria
    )


def of(value: float | Mapping[str, float], criterion: FrozenCriterion, what: str) -> float:
    """A figure for a criterion, positive where it is a deviation."""
    found = value.get(criterion.id) if isinstance(value, Mapping) else value
    if not finite(found) or (what == "sd" and not found > 0):
        raise DocumentError(f"{criterion.id}: {what} {found!r} is not usable")
    return float(found)


def prospects(
    rule: FrozenRule,
    criterion: FrozenCriterion,
    sd: float,
    effect: float | Mapping[str, float] | None,
    power: float,
    no_edge: float,
) -> CriterionPower:
    """One criterion."""
    design = Design(len(rule.seeds), rule.alpha, len(rule.criteria), criterion.margin, sd)
    smallest = numbers.smallest_effect(design, power)
    true = smallest if effect is None else of(effect, criterion, "effect")
    band_mark = -criterion.margin if criterion.margin > 0 else criterion.margin
    return CriterionPower(
        id=criterion.id,
        n=design.n,
        comparisons=design.comparisons,
        margin=criterion.margin,
        sd=sd,
        effect=true,
        power=power,
        tcrit=design.t,
        smallest_effect=smallest,
        seeds_needed=numbers.seeds_needed(design, true, power),
        p_supported=numbers.supported(design, true),
        p_refuted_margin=numbers.below(design, true, criterion.margin),
        p_refuted_band=numbers.below(design, true, band_mark),
        p_tie=numbers.tie(design, true),
        p_no_edge=no_edge,
    )
