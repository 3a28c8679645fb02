"""The data of a plan, prepared with the renderer that this installation has."""

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from rx_tools.model.json import JsonObject
from rx_tools.planning.plan import Plan
from rx_tools.runner.planned_data import planned_data
from rx_tools.runner.prepared import PreparedData
from rx_tools.runner.rendering import Implementation


def renderer_implementation() -> Implementation:
    """The cookbook's own renderer where it is installed, else the built-in one, equal to it."""
    return "cookbook" if find_spec("tinker_cookbook") else "builtin"


def prepare(
    plan: Plan, spec: JsonObject, tokenizer: Path | str, source: str | Path | None = None
) -> PreparedData:
    """Rows, order and batches as the plan froze them; `source` replaces the hub by local files."""
    return planned_data(
        asdict(plan.data),
        asdict(plan.evaluation),
        batch_size=int(spec["batch_size"]),
        tokenizer=tokenizer,
        implementation=renderer_implementation(),
        source=source,
        reduction="mean" if plan.data.reduction == "mean" else "none",
    )
