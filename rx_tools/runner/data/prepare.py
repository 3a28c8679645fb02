"""The data of a plan, prepared with the renderer that this installation has."""

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from rx_tools.errors import ServiceError
from rx_tools.model.json import JsonObject
from rx_tools.planning.plan import Plan
from rx_tools.runner.data.planned_data import planned_data
from rx_tools.runner.data.prepared import PreparedData
from rx_tools.runner.data.rendering import Implementation
from rx_tools.runner.service import ModelConfig, OptimizerConfig, TrainingService
from rx_tools.runner.wire.substitution import closest_served


def renderer_implementation() -> Implementation:
    """The cookbook's own renderer where it is installed, else the built-in one, equal to it."""
    return "cookbook" if find_spec("tinker_cookbook") else "builtin"


def served_tokenizer(service: TrainingService, plan: Plan, spec: JsonObject) -> str:
    """The tokenizer that the service names for the base model, asked of a throw-away model."""
    base, rank = str(spec.get("base_model")), spec.get("lora_rank")
    refuse_unserved(service, base)
    optimizer = plan.arms[0].optimizer
    config = OptimizerConfig(optimizer.type, dict(optimizer.parameters))
    model = service.create(ModelConfig(base, int(str(rank)), config))
    try:
        return model.info().tokenizer or base
    finally:
        model.release()


def refuse_unserved(service: TrainingService, base_model: str) -> None:
    """Raise `ServiceError` that names what is served when the base model is not."""
    served = service.capabilities().models
    if base_model not in served:
        closest = closest_served(base_model, served)
        raise ServiceError(
            f"{base_model} is not served (served: {', '.join(served) or 'nothing'})",
            where="service",
            hint=f"`--deviate model={closest}` declares the closest of its family"
            if closest
            else "no model of its family is served",
        )


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
