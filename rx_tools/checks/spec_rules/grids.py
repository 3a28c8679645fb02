"""Learning-rate grids can lead to a definitive verdict, and compare like with like.

**What.** Every grid has at least three rates; all arms of one grid share steps and seed; the grids
of the compared roles have the same budget; selection arms and the feature `adaptive_selection`
go together with `decision_rule.adaptive_selection`.

**Why.** A selected rate at the edge of its grid makes the verdict inconclusive, and a grid of two
rates has only edges: such a run is lost before it starts. Grids of different budgets tune one side
more than the other.

**Fix.** Plan three or more rates per grid, with the expected best one inside. Give each grid the
same number of rates, the same steps and the same seed. When time is short, drop secondary
evaluations before grid points.

**Source.** Exchange contract, sections 6 and 9; a grid of two points has only edges.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from rx_tools.checks.roles import is_selection
from rx_tools.checks.ruling import arms_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Arm, Spec

CODES: Mapping[str, str] = {
    "RX120": "a learning-rate grid has only edges",
    "RX121": "grids, or the arms of one grid, do not match",
    "RX122": "the downsizing order would shrink a grid to its edges",
    "RX123": "selection arms and the declared adaptive selection do not agree",
    "RX124": "the rate of a selection arm is not a number",
}

TWO_POINTS = re.compile(r"grid\b[^.;,]{0,40}\b(?:2|two)[- ]points?|\b(?:2|two)[- ]point\b", re.I)


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    found = [*grid_findings(spec), *declaration(spec), *downsizing(spec)]
    return ruled(found)


def grids(spec: Spec) -> Mapping[str, list[tuple[str, Arm]]]:
    """The selection arms by optimizer, or by role where it is stated, each with its path."""
    found: dict[str, list[tuple[str, Arm]]] = {}
    for path, arm in arms_at(spec):
        if is_selection(arm):
            key = as_text(arm.raw.get("role")) or arm.optimizer or spec.optimizer_name or "all"
            found.setdefault(key, []).append((path, arm))
    return found


def grid_findings(spec: Spec) -> Iterator[Finding]:
    """What is wrong within each grid, then between them."""
    found = grids(spec)
    for name, arms in found.items():
        yield from edges(name, arms)
        yield from uneven(name, [arm for _, arm in arms])
    sizes = {name: len(arms) for name, arms in found.items()}
    steps = {arm.steps for arms in found.values() for _, arm in arms}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        message = f"the grids have different numbers of rates: {listed}"
        yield on_spec("RX121", Level.ERROR, message, "$.arms")
    elif len(found) > 1 and len(steps) > 1:
        yield on_spec("RX121", Level.ERROR, "the grids train for different steps", "$.arms")


def edges(name: str, arms: Sequence[tuple[str, Arm]]) -> Iterator[Finding]:
    """A grid needs a rate that is not at its edge."""
    for path, arm in arms:
        if arm.lr is None:
            message = f"the rate of selection arm {arm.name!r} is not a number"
            yield on_spec("RX124", Level.UNVERIFIED, message, path)
            return
    rates = {arm.lr for _, arm in arms}
    if len(rates) < 3:
        message = f"the grid of {name} has {len(rates)} rates: each is at an edge"
        hint = "a selected rate at an edge makes the verdict inconclusive; plan three or more"
        yield on_spec("RX120", Level.ERROR, message, arms[0][0], hint)


def uneven(name: str, arms: Sequence[Arm]) -> Iterator[Finding]:
    """The arms of one grid differ in nothing but the rate."""
    for what, values in (
        ("steps", {arm.steps for arm in arms}),
        ("seed", {arm.seed for arm in arms}),
        ("optimizer", {arm.optimizer for arm in arms}),
    ):
        if len(values) > 1:
            listed = ", ".join(sorted(map(str, values)))
            message = f"the arms of the grid of {name} differ in {what}: {listed}"
            yield on_spec("RX121", Level.ERROR, message, "$.arms")


def declaration(spec: Spec) -> Iterator[Finding]:
    """Feature, rule and arms must all say the same of a selection."""
    in_rule = spec.decision_rule is not None and spec.decision_rule.adaptive_selection is not None
    feature = spec.features.get("adaptive_selection")
    if any(is_selection(arm) for arm in spec.arms) and not in_rule:
        message = "there are selection arms, but decision_rule.adaptive_selection is absent"
        yield on_spec("RX123", Level.ERROR, message, "$.decision_rule")
    elif feature is not None and feature is not in_rule and spec.decision_rule is not None:
        message = (
            f"experiment_features.adaptive_selection is {str(feature).lower()}, but the decision "
            f"rule {'plans' if in_rule else 'does not plan'} a selection"
        )
        yield on_spec("RX123", Level.ERROR, message, "$.experiment_features.adaptive_selection")


def downsizing(spec: Spec) -> Iterator[Finding]:
    """Prose that shrinks a grid to two points gives the verdict away."""
    text = as_text(as_object(spec.raw.get("feasibility")).get("downsizing_order"))
    if TWO_POINTS.search(text):
        message = "the downsizing order shrinks a grid to two rates, which are both edges"
        hint = "definitive only with a middle rate: drop something else first"
        yield on_spec("RX122", Level.WARNING, message, "$.feasibility.downsizing_order", hint)
