"""A plan against its own schema, before anybody freezes it."""

import json

from rx_tools.checks.shape import judge_shape
from rx_tools.errors import DocumentError
from rx_tools.model.result import Level
from rx_tools.planning.plan import Plan


def refuse_misshapen(plan: Plan, spec: str) -> None:
    """Raise `DocumentError` for a spec whose values lead to no plan."""
    findings = judge_shape(json.loads(json.dumps(plan.to_json())), "plan", "plan")
    wrong = next((one for one in findings if one.level is Level.ERROR), None)
    if wrong:
        raise DocumentError(
            f"leads to no plan: {wrong.json_path}: {wrong.message}",
            where=spec,
            hint=f"rx validate {spec} says what is wrong with it",
        )
