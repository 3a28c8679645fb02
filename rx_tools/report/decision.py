"""A decision for people: the line that decides first, then figures, then description."""

import math
from collections.abc import Iterator, Sequence

from rx_tools.checks.deciding.criterion import CriterionResult
from rx_tools.checks.deciding.decide import Decision
from rx_tools.checks.deciding.descriptive import leave_one_out
from rx_tools.checks.deciding.issues import Issue, Row
from rx_tools.checks.deciding.readings import Position
from rx_tools.checks.deciding.rule import FrozenRule
from rx_tools.report.terminal import visible

SHOWN = 10
FRAGILE_SEEDS = 3


def decision_lines(decision: Decision, rule: FrozenRule | None, assumptions: Sequence[str]) -> str:
    """The whole text; one line per fact."""
    lines = [deciding_line(decision)]
    lines += conflict_lines(decision)
    lines += [f"  {issue.code} {issue}" for issue in decision.issues[:SHOWN]]
    if len(decision.issues) > SHOWN:
        lines.append(f"  … {len(decision.issues)} issues in all")
    for criterion in decision.criteria:
        lines += ["", *criterion_lines(criterion)]
    lines += [f"warning: {text}" for text in decision.warnings]
    if assumptions:
        lines += ["", f"assumed, not tested: {', '.join(assumptions)}"]
    lines += fragility_lines(decision)
    if rule is not None and decision.criteria:
        lines += ["", "description (decides nothing):"]
        for criterion in decision.criteria:
            lines += descriptive_lines(criterion, rule.alpha)
    return "\n".join(map(visible, lines))


def deciding_line(decision: Decision) -> str:
    """The verdict and what it rests on."""
    named = decision.verdict
    if decision.outcome_reason != decision.verdict:
        named += f" ({decision.outcome_reason})"
    if decision.issues:
        more = f" (+{len(decision.issues) - 1} more)" if len(decision.issues) > 1 else ""
        return f"{named}: {one_line(decision.issues[0])}{more}"
    return f"{named}: {reason_of(decision)}"


def one_line(issue: Issue) -> str:
    """An issue's sentence without its full stop."""
    return str(issue).rstrip(".")


def reason_of(decision: Decision) -> str:
    """Where the intervals lie."""
    criteria = decision.criteria
    if decision.outcome_reason == "insufficient_evidence":
        undecided = [c for c in criteria if Position.OPEN in (c.settled_margin, c.settled_band)]
        criteria = tuple(undecided[:1]) or criteria
    if not criteria:
        return "there is no interval"
    return "; ".join(
        (f"{criterion.id}: " if len(decision.criteria) > 1 else "")
        + where(criterion, decision.verdict)
        for criterion in criteria
    )


def where(criterion: CriterionResult, verdict: str) -> str:
    """Where one interval lies, in digits that show it."""
    if criterion.low is None or criterion.high is None:
        return "there is no interval"
    margin, band = criterion.margin, criterion.settled_band
    digits = digits_for(criterion)
    interval = f"interval [{criterion.low:.{digits}g}, {criterion.high:.{digits}g}]"
    below = f"the whole {interval} lies below {margin:g}"
    sentences = (
        (band is Position.SUPPORTED, f"the whole {interval} lies above {margin:g}"),
        (verdict == "refuted" and band is not Position.REFUTED, below),
        (band is Position.TIE, f"the whole {interval} lies within ±{margin:g}"),
        (band is Position.REFUTED and margin > 0, f"the whole {interval} lies below {-margin:g}"),
        (criterion.settled_margin is Position.REFUTED, below),
        (criterion.low <= margin <= criterion.high, f"the {interval} contains {margin:g}"),
    )
    otherwise = f"an end of the {interval} is {margin:g} up to rounding"
    return next((text for holds, text in sentences if holds), otherwise)


def digits_for(criterion: CriterionResult) -> int:
    """The fewest significant digits, three or more, that keep both ends on their sides."""
    assert criterion.low is not None
    assert criterion.high is not None
    for digits in range(3, 17):
        kept = all(
            side(float(f"{end:.{digits}g}"), mark) == side(end, mark)
            for end in (criterion.low, criterion.high)
            for mark in (criterion.margin, -criterion.margin)
        )
        apart = f"{criterion.low:.{digits}g}" != f"{criterion.high:.{digits}g}"
        if kept and apart:
            return digits
    return 17


def side(value: float, mark: float) -> int:
    """On which side of a mark a value lies."""
    return (value > mark) - (value < mark)


def conflict_lines(decision: Decision) -> Iterator[str]:
    """Both readings, where no frozen reading chooses between them."""
    if decision.reading_conflict:
        margin, band = decision.margin_reading, decision.band_reading
        yield (
            f"  reading conflict: the margin reading says {margin.verdict}/{margin.reason},"
            f" the band reading {band.verdict}/{band.reason}; none was frozen"
        )
    if decision.tested:
        tested = decision.tested
        beyond = [issue for issue in decision.issues if issue.row is not Row.HYPOTHESIS]
        places = [where(criterion, tested.verdict) for criterion in decision.criteria]
        because = one_line(beyond[0]) if beyond else "; ".join(places)
        yield f"  for what was tested instead: {tested.verdict}/{tested.reason}: {because}"


def criterion_lines(criterion: CriterionResult) -> Iterator[str]:
    """The figures of one criterion."""
    yield f"{criterion.id}: {criterion.metric}, margin {criterion.margin:g}"
    yield (
        f"  mean {number(criterion.mean)}, sd {number(criterion.sd)}, n {criterion.n},"
        f" t({criterion.df}) {number(criterion.tcrit)}, {criterion.k} comparison(s)"
    )
    if criterion.low is not None:
        yield f"  interval [{number(criterion.low)}, {number(criterion.high)}]"
        yield (
            f"  margin reading: {criterion.reading_margin.value},"
            f" band reading: {criterion.reading_band.value}"
        )


def fragility_lines(decision: Decision) -> Iterator[str]:
    """What three seeds cannot promise."""
    refutes = decision.margin_reading.verdict == "refuted"
    decides = decision.verdict == "refuted" or decision.reading_conflict
    if refutes and decides and any(c.n <= FRAGILE_SEEDS for c in decision.criteria):
        yield (
            "note: at n = 3 a refutation under the margin reading is fragile: a 10 % chance of a"
            " diverged baseline gives 34 % false refutations"
        )


def descriptive_lines(criterion: CriterionResult, alpha: float) -> Iterator[str]:
    """Effects per seed, the interval without each seed, and where a margin would turn it."""
    effects = ", ".join(f"{seed}: {number(value)}" for seed, value in criterion.contrasts.items())
    yield f"  {criterion.id}, effect by seed: {effects}"
    for left in leave_one_out(criterion, alpha):
        interval = "" if left.low is None else f", [{number(left.low)}, {number(left.high)}]"
        yield f"  {criterion.id}, without seed {left.seed}: mean {number(left.mean)}{interval}"
    if criterion.low is not None and criterion.high is not None:
        yield (
            f"  {criterion.id}, turning margins: above every margin below {number(criterion.low)},"
            f" below every margin above {number(criterion.high)}"
        )


def number(value: float | None) -> str:
    """A figure with six significant digits."""
    if value is None or not math.isfinite(value):
        return "none"
    return f"{value:.6g}"
