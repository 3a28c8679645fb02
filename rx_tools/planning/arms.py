"""Arm name → role, seed, phase, rate: from explicit fields first, from names only when clear."""

import re
from collections.abc import Sequence

from rx_tools.checks.roles import role_in_name
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer, is_number
from rx_tools.model.names import ArmName, Role
from rx_tools.planning.optimizers import planned_optimizer, restoration_entries
from rx_tools.planning.plan import Grid, PlannedArm
from rx_tools.planning.questions import Inquiry

SEED_IN_NAME = re.compile(r"(?:^|[_-])(?:seed|s)(\d+)(?:$|[_-])")


def roles_of(spec: JsonObject) -> tuple[str, ...]:
    """The roles that the decision rule weighs, in its order."""
    criteria = as_list(as_object(spec.get("decision_rule")).get("criteria"))
    weights = [as_object(as_object(criterion).get("weights")) for criterion in criteria]
    return tuple(dict.fromkeys(role for weight in weights for role in weight))


def phase_of(arm: JsonObject) -> str:
    """`selection` where the spec says so, else `confirmation`."""
    return "selection" if as_text(arm.get("phase")) == "selection" else "confirmation"


def seed_of(arm: JsonObject) -> int | None:
    """The arm's seed field, else the one seed in its name."""
    if is_integer(arm.get("seed")):
        return int(arm["seed"])
    found = SEED_IN_NAME.findall(as_text(arm.get("name")))
    return int(found[0]) if len(found) == 1 else None


def rate_of(arm: JsonObject) -> float | None:
    """The arm's learning rate, None while it waits for a selection."""
    rate = arm.get("lr", arm.get("learning_rate"))
    return float(rate) if is_number(rate) else None


def steps_of(spec: JsonObject, arm: JsonObject) -> int | None:
    """The arm's steps, else the spec's."""
    steps = arm.get("steps", spec.get("steps"))
    return int(steps) if is_integer(steps) else None


def planned_arms(spec: JsonObject, inquiry: Inquiry) -> tuple[PlannedArm, ...]:
    """Every arm of the spec, in its order, with all that its training needs."""
    documents = [as_object(arm) for arm in as_list(spec.get("arms"))]
    by_optimizer = roles_by_optimizer(spec, documents)
    return tuple(planned_arm(spec, arm, by_optimizer, inquiry) for arm in documents)


def roles_by_optimizer(spec: JsonObject, arms: Sequence[JsonObject]) -> dict[str, str]:
    """Optimizer type → the one role whose confirmation arms use it."""
    roles: dict[str, set[str]] = {}
    for arm in arms:
        role = as_text(arm.get("role")) or role_in_name(as_text(arm.get("name")), roles_of(spec))
        if phase_of(arm) == "confirmation" and role:
            roles.setdefault(planned_optimizer(spec, arm).type, set()).add(role)
    return {kind: next(iter(found)) for kind, found in roles.items() if len(found) == 1}


def planned_arm(
    spec: JsonObject, arm: JsonObject, by_optimizer: dict[str, str], inquiry: Inquiry
) -> PlannedArm:
    """One arm; what its fields and name do not say is asked for."""
    name, phase = as_text(arm.get("name")), phase_of(arm)
    roles, optimizer = roles_of(spec), planned_optimizer(spec, arm)
    stated = as_text(arm.get("role")) or role_in_name(name, roles)
    inherited = by_optimizer.get(optimizer.type) if phase == "selection" else None
    role = inquiry.resolve(
        f"arms.{name}.role", stated or inherited, "which role of the decision rule is this?", roles
    )
    rate = rate_of(arm)
    waits = rate is None and bool(
        as_object(as_object(spec.get("decision_rule")).get("adaptive_selection"))
    )
    if rate is None and not waits:
        rate = inquiry.resolve(
            f"arms.{name}.learning_rate", None, "which learning rate does it train with?", blank=0.0
        )
    return PlannedArm(
        name=ArmName(name),
        role=Role(role),
        seed=inquiry.resolve(
            f"arms.{name}.seed", seed_of(arm), "which training seed is this?", blank=0
        ),
        phase=phase,
        steps=inquiry.resolve(
            f"arms.{name}.steps", steps_of(spec, arm), "how many steps does it train?", blank=0
        ),
        learning_rate=rate,
        grid=role if phase == "selection" or waits else None,
        group=restoration_entries(spec).get(name, (None, {}))[0],
        optimizer=optimizer,
    )


def grids_of(arms: Sequence[PlannedArm]) -> tuple[Grid, ...]:
    """One grid per role of the selection arms; a grid is named after its role."""
    searching = [arm for arm in arms if arm.phase == "selection" and arm.learning_rate is not None]
    roles = dict.fromkeys(arm.role for arm in searching)
    return tuple(grid_of(role, [arm for arm in searching if arm.role == role]) for role in roles)


def grid_of(role: Role, arms: Sequence[PlannedArm]) -> Grid:
    """The grid of one role, rates ascending."""
    ordered = sorted(arms, key=lambda arm: arm.learning_rate or 0.0)
    return Grid(
        id=role,
        role=role,
        seed=ordered[0].seed,
        arms=tuple(arm.name for arm in ordered),
        learning_rates=tuple(arm.learning_rate or 0.0 for arm in ordered),
    )
