"""What a plan can be expected to say, and what its spec cannot tell apart."""

from collections.abc import Sequence

from rx_tools.checks.deciding.power_report import CriterionPower
from rx_tools.planning.discrimination import Advice
from rx_tools.planning.plan import Plan
from rx_tools.planning.secondary import Secondary


def power_lines(power: Sequence[CriterionPower], plan: Plan) -> list[str]:
    """The chances of every criterion; assumptions are stated, not tested."""
    lines = [line for one in power for line in criterion_lines(one)]
    edges = [grid.id for grid in plan.grids if len(grid.learning_rates) < 3]
    if plan.grids:
        names = " and of ".join(grid.id for grid in plan.grids)
        lines.append(f"definitive only if the selection picks a middle rate in the grid of {names}")
    lines += [f"never definitive: the grid of {name} has only edges" for name in edges]
    return ["", "power", *(f"  {line}" for line in lines)] if lines else []


def criterion_lines(one: CriterionPower) -> list[str]:
    """One criterion for its declared deviation and effect."""
    seeds = "no number of seeds" if one.seeds_needed is None else f"{one.seeds_needed} seeds"
    return [
        f"{one.id}: {one.n} seeds, sd {one.sd:g}, margin {one.margin:g}, assumed normal",
        f"  smallest effect that is supported with chance {one.power:.0%}: "
        f"{one.smallest_effect:.6g}",
        f"  for an effect of {one.effect:.6g}: supported {one.p_supported:.1%}, "
        f"tie {one.p_tie:.1%}; {seeds} for {one.power:.0%}",
        f"  chance of a definitive verdict: margin {one.definitive_margin:.1%}, "
        f"band {one.definitive_band:.1%}",
    ]


def secondary_lines(evaluations: Sequence[Secondary]) -> list[str]:
    """What the spec plans beside its endpoint and no arm runs."""
    found = [f"  {one}: declare with --deviate secondary=none" for one in evaluations]
    return ["", "secondary evaluations, not run", *found] if found else []


def advice_lines(advice: Sequence[Advice]) -> list[str]:
    """One line per weakness of the spec."""
    found = [f"  {one.json_path}: {one.message}" for one in advice]
    return ["", "what the spec cannot tell apart", *found] if found else []
