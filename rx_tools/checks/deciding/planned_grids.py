"""The grids of a recorded selection against the selection arms that the spec plans."""

from collections.abc import Iterator, Sequence

from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.rule import finite
from rx_tools.checks.optimizers import family
from rx_tools.checks.roles import is_selection, role_of, roles_of
from rx_tools.model.json import as_list, as_object
from rx_tools.model.record import Record
from rx_tools.model.spec import Arm, Spec

PLACE = "$.decision.selection"


def planned_grid_issues(spec: Spec, record: Record) -> Iterator[Issue]:
    """Every planned grid has a selected rate, and is recorded with the rates that were planned.

    A grid that was shortened, stretched or left out would hide a rate at an edge.
    """
    selection = as_object(record.section("decision").get("selection"))
    recorded, selected = as_object(selection.get("grids")), as_object(selection.get("selected"))
    if not (recorded and selected):
        return
    for name, arms in planned_grids(spec).items():
        keys = [key for key in dict.fromkeys((*recorded, *selected)) if key in names_of(spec, name)]
        if not keys:
            text = f"The planned grid of {name} has no selected rate."
            yield Issue("SELECTION_NOT_RECORDED", text, f"{PLACE}.selected")
        rates = [arm.lr for arm in arms]
        if len(keys) == 1 and None not in rates and differ(as_list(recorded.get(keys[0])), rates):
            text = f"{keys[0]}: the recorded grid is not the planned one."
            yield Issue("LR_NOT_IN_GRID", text, f"{PLACE}.grids.{keys[0]}")


def planned_grids(spec: Spec) -> dict[str, list[Arm]]:
    """The selection arms by role, or by optimizer where neither role nor name says one."""
    found: dict[str, list[Arm]] = {}
    for arm in filter(is_selection, spec.arms):
        optimizer = family(arm.optimizer or spec.optimizer_name or "")
        found.setdefault(role_of(arm, roles_of(spec)) or optimizer, []).append(arm)
    return found


def names_of(spec: Spec, grid: str) -> set[str]:
    """What a record may call a grid: itself, its optimizer's aliases, a role it chooses for."""
    aliases = {
        arm.optimizer
        for arm in spec.arms
        if arm.optimizer is not None and family(arm.optimizer) == grid
    }
    confirmed = (arm for arm in spec.arms if arm.optimizer in aliases and not is_selection(arm))
    roles = {role_of(arm, roles_of(spec)) or "" for arm in confirmed}
    return {grid, *aliases, *roles}


def differ(recorded: Sequence[object], planned: Sequence[float | None]) -> bool:
    """Whether two grids hold other rates; their order says nothing."""
    return {float(rate) for rate in recorded if finite(rate)} != set(planned)
