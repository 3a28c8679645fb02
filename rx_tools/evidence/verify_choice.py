"""The evidence level, selection: each rate chosen again from the predictions of its search."""

from collections.abc import Iterator, Mapping

from rx_tools.checks.loss_items import ArmItems, other_items
from rx_tools.errors import UnverifiedError
from rx_tools.evidence.claim import Claim, agree, contradicted, incomplete
from rx_tools.evidence.timeline import Timeline
from rx_tools.evidence.verify_feasibility import whole_plan
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object
from rx_tools.model.names import ArmName
from rx_tools.model.record import Record
from rx_tools.planning.plan import Grid, Plan
from rx_tools.planning.selection import choose, selection_section

SUBJECT = "selection"


def verify_choice(
    record: Record, evidence: Evidence, plan: JsonObject, history: Timeline
) -> Iterator[Claim]:
    """The rule of the grids over the losses of the search arms gives the selected rates."""
    stated = as_object(record.section("decision").get("selection"))
    frozen = whole_plan(plan)
    if not stated or frozen is None:
        return
    items = other_items(record, evidence).arms
    selected: dict[str, float] = {}
    for grid in frozen.grids:
        yield from other_search_items(grid, items, history)
        try:
            selected[grid.id] = choose(grid, search_scores(frozen, items)).rate
        except UnverifiedError as error:
            yield incomplete(SUBJECT, f"{grid.id}: {error.what}")
            return
    for key, value in selection_section(frozen.grids, selected).items():
        if key != "frozen_before_confirmation":
            yield agree(SUBJECT, key, stated.get(key), value)


def search_scores(plan: Plan, items: Mapping[str, ArmItems]) -> dict[ArmName, float]:
    """The score of every arm of a grid whose predictions hold a counted token."""
    scores: dict[ArmName, float] = {}
    for arm in (arm for grid in plan.grids for arm in grid.arms if arm in items):
        value = items[arm].record(plan.evaluation.aggregation)["value"]
        scores |= {} if value is None else {arm: value}
    return scores


def other_search_items(
    grid: Grid, items: Mapping[str, ArmItems], history: Timeline
) -> Iterator[Claim]:
    """Arms of a search that were scored on other items than those of the search evaluator."""
    frozen = [data for data in history.data("evaluator_frozen") if data.get("items") == "search"]
    listed = [as_object(as_object(data.get("provenance")).get("items")) for data in frozen]
    known = [{str(item) for item in as_list(one.get("ids"))} for one in listed]
    for arm in grid.arms:
        if arm in items and items[arm].totals.keys() not in known:
            yield contradicted(SUBJECT, f"{arm} was scored on other items than the search has")
