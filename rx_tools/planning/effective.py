"""The effective configuration: the evidence file that repeats the frozen plan."""

from typing import Any

from rx_tools.model.json import JsonObject

PLAN_ONLY = ("schema", "rx_version")


def effective_document(plan: JsonObject) -> dict[str, Any]:
    """The nine keys of the feasibility gate, and everything that the plan froze."""
    frozen = {key: value for key, value in plan.items() if key not in PLAN_ONLY}
    return {"effective_config": plan.get("effective_config"), "plan": frozen}
