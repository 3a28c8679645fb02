"""Every restore of an arm in its provenance: how many, and which optimizer answered after each."""

from collections.abc import Sequence
from typing import Any

from rx_tools.checks.optimizers import shown
from rx_tools.evidence.ledger import LedgerLine
from rx_tools.model.json import JsonObject, as_object, is_number
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import Plan
from rx_tools.runner.whole.clearance import events

SECTION = "initialization_provenance"


def with_restores(
    plan: Plan, sections: dict[str, Any], lines: Sequence[LedgerLine]
) -> dict[str, Any]:
    """The sections with each arm's true restore count and one optimizer check per restore."""
    if SECTION not in sections:
        return sections
    entries = [with_arm_restores(plan, entry, lines) for entry in sections[SECTION]["arms"]]
    return sections | {SECTION: sections[SECTION] | {"arms": entries}}


def with_arm_restores(plan: Plan, entry: JsonObject, lines: Sequence[LedgerLine]) -> dict[str, Any]:
    """One arm's entry; the preflight measured it at creation."""
    restores = restores_of(lines, str(entry["name"]))
    if not restores:
        return dict(entry)
    created = entry["optimizer_checks"][0]
    rate = configured_rate(plan, lines, str(entry["name"]))
    checks = [restore_check(plan, rate, created, restore) for restore in restores]
    return dict(entry) | {"restore_count": len(restores), "optimizer_checks": [created, *checks]}


def restores_of(lines: Sequence[LedgerLine], arm: str) -> list[JsonObject]:
    """Each restore of the arm, with what the server showed of the optimizer before it went on."""
    return [data for data in events(lines, "arm_restored") if data["arm"] == arm]


def configured_rate(plan: Plan, lines: Sequence[LedgerLine], name: str) -> float | None:
    """The arm's planned rate, else the one that the selection froze for its grid, else None."""
    arm = plan.arm(name)
    if arm is None or arm.learning_rate is not None:
        return arm.learning_rate if arm else None
    frozen = events(lines, "selection_frozen")
    return float(frozen[-1]["selected"][arm.grid]) if frozen else None


def restore_check(
    plan: Plan, rate: float | None, created: JsonObject, restore: JsonObject
) -> dict[str, Any]:
    """What a server response shows of the optimizer before the update that follows a restore.

    A restore to the initialization holds no update: an optimizer of the same type is as new as at
    creation, and what was measured there stands.
    """
    seen = as_object(restore.get("optimizer"))
    check = {
        "after_restore": restore["restore"],
        "before_next_update": bool(seen),
        "evidence_ref": names.restores_file(str(restore["arm"])),
    }
    if not seen:
        return check | {"source": "declared", "actual": None, "actual_config": None}
    optimizer = shown(seen)
    if restore["step"] == 0 and optimizer.type == created["actual"]:
        return check | {
            **{key: created[key] for key in ("source", "actual", "actual_config")},
            "note": "back at the initialization: the optimizer is as new as at creation",
        }
    return check | {
        "source": seen["source"],
        "actual": optimizer.type or None,
        **with_configured_rate(plan, rate, restore, optimizer.settings),
    }


def with_configured_rate(
    plan: Plan, base: float | None, restore: JsonObject, settings: dict[str, Any]
) -> dict[str, Any]:
    """The configured rate in place of a scheduled one, if the schedule leads from one to the other.

    The server shows the rate of the last step; the spec requests the base rate.
    """
    arm, last = plan.arm(str(restore["arm"])), settings.get("learning_rate")
    if arm is None or base is None or not is_number(last):
        return {"actual_config": settings}
    if last != plan.schedule.rate(base, int(restore["step"]) - 1, arm.steps):
        return {"actual_config": settings}
    return {
        "actual_config": settings | {"learning_rate": base},
        "note": f"last step at {last!r}: base rate {base!r}, schedule {plan.schedule.kind}",
    }
