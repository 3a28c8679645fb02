"""What else a verdict hangs on: arms, deviations, the selection, the gates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.rule import finite, named
from rx_tools.model.json import JsonObject, as_list, as_object, is_integer

OPEN_STATUSES = ("passed", "not_applicable")
CHANGED_ENDPOINT = ("objective", "endpoint")
HYPERPARAMETER = "hyperparameter"
WEIGHT_EDIT = "weight_edit"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Inputs of the outcome table that no observation row holds.

    `arms` are the names that must have completed; `gates` maps gates to their status;
    `accepted_unverified` names gates that were passed over by consent. Item lists may be prose,
    which leaves them unresolved. `source_issues` say why there are no rows to read,
    `evidence_issues` what else is wrong with the evidence for them.
    """

    arms: Sequence[str] = ()
    completed_arms: Sequence[str] | None = None
    original_hypothesis_tested: bool | None = None
    deviations: Sequence[JsonObject] = ()
    adaptive_selection: bool = False
    kind: str | None = None
    selection: JsonObject = field(default_factory=dict)
    search_item_ids: object = None
    confirmation_item_ids: object = None
    grids: Mapping[str, Sequence[float]] = field(default_factory=dict)
    selected: Mapping[str, float] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)
    accepted_unverified: Sequence[str] = ()
    source_issues: Sequence[Issue] = ()
    evidence_issues: Sequence[Issue] = ()

    @classmethod
    def of(cls, raw: JsonObject) -> "Circumstances":
        """Read them from a plain object; the selection's own grids and rates count as well."""
        selection = as_object(raw.get("selection"))
        completed = raw.get("completed_arms")
        tested = raw.get("original_hypothesis_tested")
        return cls(
            arms=tuple(as_list(raw.get("arms"))),
            completed_arms=None if completed is None else tuple(as_list(completed)),
            original_hypothesis_tested=tested if isinstance(tested, bool) else None,
            deviations=tuple(map(as_object, as_list(raw.get("deviations")))),
            adaptive_selection=raw.get("adaptive_selection") is True,
            kind=raw.get("kind"),
            selection=selection,
            search_item_ids=raw.get("search_item_ids"),
            confirmation_item_ids=raw.get("confirmation_item_ids"),
            grids=as_object(raw.get("grids", selection.get("grids"))),
            selected=as_object(raw.get("selected", selection.get("selected"))),
            gates=as_object(raw.get("gates", raw.get("preflight"))),
            accepted_unverified=tuple(as_list(raw.get("accepted_unverified"))),
        )


def circumstance_issues(given: Circumstances, observed_items: Iterable[str]) -> Iterator[Issue]:
    """Everything in the circumstances that keeps a verdict from being definitive."""
    yield from arm_issues(given)
    yield from hypothesis_issues(given)
    yield from given.source_issues
    yield from given.evidence_issues
    if given.adaptive_selection:
        yield from selection_issues(given, observed_items)
    yield from grid_issues(given)
    yield from gate_issues(given)


def arm_issues(given: Circumstances) -> Iterator[Issue]:
    """Every required arm has completed."""
    completed = () if given.completed_arms is None else given.completed_arms
    absent = [arm for arm in given.arms if arm not in completed]
    if absent:
        names = ", ".join(map(str, absent))
        yield Issue("ARMS_NOT_COMPLETED", f"Arms not completed: {names}.", "$.completed_arms")


def hypothesis_issues(given: Circumstances) -> Iterator[Issue]:
    """The run tested the hypothesis that the spec states."""
    if given.original_hypothesis_tested is False:
        text = "The original hypothesis was not tested; the verdict holds for what was tested."
        yield Issue("HYPOTHESIS_NOT_TESTED", text, "$.original_hypothesis_tested")
    for index, deviation in enumerate(given.deviations):
        if deviation.get("field") in CHANGED_ENDPOINT:
            text = f"The {deviation['field']} was changed, so another hypothesis was tested."
            yield Issue("HYPOTHESIS_NOT_TESTED", text, f"$.deviations[{index}]")


def selection_issues(given: Circumstances, observed_items: Iterable[str]) -> Iterator[Issue]:
    """The choice was frozen before the confirmation, on other items."""
    if given.selection.get("frozen_before_confirmation") is not True:
        text = "The selection was not frozen before the confirmation."
        yield Issue("SELECTION_NOT_FROZEN", text, "$.decision.selection")
    lists = {"search": given.search_item_ids, "confirmation": given.confirmation_item_ids}
    resolved = {name: ids for name, value in lists.items() if (ids := item_ids(value)) is not None}
    for name in lists.keys() - resolved.keys():
        text = f"The {name} items are not resolved to a list of ids."
        yield Issue("SELECTION_ITEMS_UNRESOLVED", text, f"{name}_item_ids")
    both = resolved.get("search", set()) & resolved.get("confirmation", set())
    if both:
        text = f"Search and confirmation share {len(both)} items, such as {min(both)!r}."
        yield Issue("SEARCH_CONFIRMATION_OVERLAP", text)
    if "confirmation" in resolved:
        foreign = sorted(set(observed_items) - resolved["confirmation"])
        if foreign:
            text = f"{len(foreign)} observed items are no confirmation items: {foreign[0]!r}."
            yield Issue("NOT_A_CONFIRMATION_ITEM", text)
    if given.kind == HYPERPARAMETER and not (given.grids and given.selected):
        text = "The grids and the selected rates are not recorded."
        yield Issue("SELECTION_NOT_RECORDED", text, "$.decision.selection")
    if given.kind == WEIGHT_EDIT:
        yield from budget_issues(given.selection.get("budgets"))


def item_ids(value: object) -> set[str] | None:
    """The ids of a non-empty list of different names; None for prose and anything else."""
    if not isinstance(value, list | tuple | set | frozenset) or not value:
        return None
    ids = {item for item in value if named(item)}
    return ids if len(ids) == len(value) else None


def budget_issues(budgets: object) -> Iterator[Issue]:
    """A weight edit states what the selected arm and the random control were allowed."""
    stated = as_object(budgets)
    counts = [
        as_object(budget).get(key)
        for budget in stated.values()
        for key in ("values_touched", "proposals")
    ]
    complete = len(stated) >= 2 and all(is_integer(n) and n >= 0 for n in counts)
    if not complete:
        text = "A weight edit needs budgets of values_touched and proposals for both arms."
        yield Issue("SELECTION_BUDGETS", text, "$.decision.selection.budgets")
        return
    if len({tuple(as_object(budget).items()) for budget in stated.values()}) > 1:
        text = "The arms of the weight edit had different budgets."
        yield Issue("SELECTION_BUDGETS", text, "$.decision.selection.budgets")


def grid_issues(given: Circumstances) -> Iterator[Issue]:
    """Every selected rate lies within its grid and not at an edge of it."""
    for role in dict.fromkeys((*given.grids, *given.selected)):
        grid, rate = as_list(given.grids.get(role)), given.selected.get(role)
        place = f"$.decision.selection.selected.{role}"
        if not grid or not all(map(finite, grid)):
            yield Issue("LR_NOT_IN_GRID", f"{role}: the grid is not a list of rates.", place)
        elif not any(same_number(rate, point) for point in grid):
            text = f"{role}: the selected rate {rate!r} is not on its grid."
            yield Issue("LR_NOT_IN_GRID", text, place)
        elif len(set(grid)) > 1 and rate in (min(grid), max(grid)):
            text = f"{role}: the selected rate {rate:g} is at the edge of its grid."
            yield Issue("LR_AT_GRID_EDGE", text, place)


def same_number(rate: Any, point: Any) -> bool:
    """Whether both are the same finite number."""
    return finite(rate) and finite(point) and float(rate) == float(point)


def gate_issues(given: Circumstances) -> Iterator[Issue]:
    """Every gate was passed, by evidence and not by consent."""
    for gate, status in given.gates.items():
        if gate in given.accepted_unverified:
            text = f"The gate {gate} was {status} and accepted as such; the verdict is capped."
            yield Issue("GATE_ACCEPTED_UNVERIFIED", text, str(gate))
        elif status not in OPEN_STATUSES:
            yield Issue("GATE_NOT_PASSED", f"The gate {gate} is {status}.", str(gate))
    for gate in given.accepted_unverified:
        if gate not in tuple(given.gates):
            text = f"The gate {gate} was accepted unverified; the verdict is capped."
            yield Issue("GATE_ACCEPTED_UNVERIFIED", text, str(gate))
