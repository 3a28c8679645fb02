"""One criterion: contrasts per seed, the interval, and where it lies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rx_tools.checks.deciding.cells import Means
from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.readings import Position, band_reading, margin_reading
from rx_tools.checks.deciding.rule import FrozenCriterion, FrozenRule
from rx_tools.numerics.paired_t import PairedT, paired_t
from rx_tools.numerics.sums import UNIT_ROUNDOFF, as_double

QUANTILE_ROUNDINGS = 8 * UNIT_ROUNDOFF


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """Figures of one criterion, in the metric's units, each the double nearest to the exact value.

    `contrasts` maps seeds to effects. `low` and `high` are None where there is no interval. The
    readings compare the interval, as far as the quantile is exact; `settled_margin` and
    `settled_band` are what remains where the rounding of the inputs settles nothing.
    """

    id: str
    metric: str
    margin: float
    n: int
    k: int
    contrasts: Mapping[int, float | None]
    mean: float | None
    sd: float | None = None
    se: float | None = None
    tcrit: float | None = None
    half_width: float | None = None
    low: float | None = None
    high: float | None = None
    reading_margin: Position = Position.OPEN
    reading_band: Position = Position.OPEN
    settled_margin: Position = Position.OPEN
    settled_band: Position = Position.OPEN
    zero_variance: bool = False
    numerically_constant: bool = False

    @property
    def df(self) -> int:
        """Degrees of freedom."""
        return self.n - 1


@dataclass(frozen=True, slots=True)
class Judged:
    """A criterion's figures and what keeps them from settling anything."""

    result: CriterionResult
    issues: tuple[Issue, ...]


def judge_criterion(rule: FrozenRule, criterion: FrozenCriterion, means: Means) -> Judged:
    """Contrast, interval and readings of one criterion; all cells are there."""
    contrasts = {seed: contrast(criterion, means, seed) for seed in rule.seeds}
    values = list(contrasts.values())
    k = len(rule.criteria)
    bare = CriterionResult(
        id=criterion.id,
        metric=criterion.metric,
        margin=criterion.margin,
        n=len(values),
        k=k,
        contrasts={seed: as_double(value) for seed, value in contrasts.items()},
        mean=as_double(sum(values, Fraction(0)) / len(values)),
    )
    if len(values) < 2:
        return Judged(bare, ())
    magnitude = max(size(criterion, means, seed) for seed in rule.seeds)
    interval = paired_t(values, magnitude, rule.alpha, k)
    return Judged(with_interval(bare, interval), tuple(interval_issues(bare, interval, values)))


def contrast(criterion: FrozenCriterion, means: Means, seed: int) -> Fraction:
    """Σ w·m over the roles, for one seed."""
    terms = (w * means[(criterion.metric, role, seed)] for role, w in criterion.weights.items())
    return sum(terms, Fraction(0))


def size(criterion: FrozenCriterion, means: Means, seed: int) -> Fraction:
    """Σ |w||m| over the roles, for one seed: what its rounding is relative to."""
    terms = (
        abs(w * means[(criterion.metric, role, seed)]) for role, w in criterion.weights.items()
    )
    return sum(terms, Fraction(0))


def with_interval(bare: CriterionResult, interval: PairedT) -> CriterionResult:
    """The figures with an interval, and where it lies."""
    spread = replace(
        bare,
        sd=as_double(interval.sd),
        se=as_double(interval.se),
        tcrit=interval.t,
        zero_variance=interval.zero_variance,
        numerically_constant=interval.numerically_constant,
    )
    low, high = interval.low, interval.high
    if low is None or high is None or interval.half_width is None:
        return spread
    margin = Fraction(bare.margin)
    quantile = QUANTILE_ROUNDINGS * interval.half_width
    guard = max(quantile, interval.rounding)
    return replace(
        spread,
        half_width=as_double(interval.half_width),
        low=as_double(low),
        high=as_double(high),
        reading_margin=margin_reading(low, high, margin, quantile),
        reading_band=band_reading(low, high, margin, quantile),
        settled_margin=margin_reading(low, high, margin, guard),
        settled_band=band_reading(low, high, margin, guard),
    )


def interval_issues(
    bare: CriterionResult, interval: PairedT, contrasts: Sequence[Fraction]
) -> Iterator[Issue]:
    """What makes an interval settle nothing, wherever it lies."""
    ends = (interval.low, interval.high)
    if any(end is None or as_double(end) is None for end in ends):
        text = f"{bare.id}: an end of the interval is larger than any double."
        yield Issue("NOT_REPRESENTABLE", text, bare.id)
    if interval.zero_variance:
        yield Issue("ZERO_VARIANCE", f"{bare.id}: {why_constant(contrasts)}", bare.id)
    elif interval.numerically_constant:
        text = (
            f"{bare.id}: the seeds differ by no more than the rounding of the values,"
            " which settles nothing."
        )
        yield Issue("NUMERICALLY_CONSTANT", text, bare.id)


def why_constant(contrasts: Sequence[Fraction]) -> str:
    """What to suspect when all seeds have the same effect."""
    if not any(contrasts):
        return (
            "the effect is zero for every seed; suspect ignored seeds, copied files,"
            " or a treatment that was not applied."
        )
    return "all seeds have the same effect; zero variance settles nothing."
