"""What the service really offers: the model, each arm's optimizer, seeds, weight export."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rx_tools.errors import ServiceError
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.data.prepare import refuse_unserved
from rx_tools.runner.service import Datum, Model, NotOfferedError
from rx_tools.runner.whole.workbench import Workbench


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """What one probe client per arm configuration showed.

    `exports`: adapters can be downloaded; `seeds`: a per-model seed is accepted;
    `observes`: the concrete optimizer can be looked at; `accepted`: optimizer type → the answer
    of its one step.
    """

    exports: bool
    seeds: bool
    observes: bool
    accepted: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """The facts as evidence."""
        return asdict(self)


def check_service(bench: Workbench, example: Sequence[Datum]) -> ServiceFacts:
    """One throw-away client per arm configuration takes one step on one example.

    Raises `ServiceError` when the base model is not served or an arm's optimizer is refused.
    """
    refuse_unserved(bench.service, str(bench.spec["base_model"]))
    configurations = {
        (arm.optimizer.type, tuple(sorted(arm.optimizer.parameters.items()))): arm
        for arm in bench.plan.arms
    }
    first = next(iter(configurations.values()))
    seeds = accepts_seed(bench, first)
    accepted = {
        arm.optimizer.type: step_once(bench, arm, example, seeds) for arm in configurations.values()
    }
    exports, observes = look(bench, first, seeds)
    return ServiceFacts(exports, seeds, observes, accepted)


def accepts_seed(bench: Workbench, arm: PlannedArm) -> bool:
    """Whether a per-model LoRA seed is accepted."""
    try:
        bench.service.create(bench.config(arm, seeded=True)).release()
    except NotOfferedError:
        return False
    return True


def step_once(bench: Workbench, arm: PlannedArm, example: Sequence[Datum], seeds: bool) -> str:
    """One optimizer step of the arm's configuration on one example."""
    bench.tell(f"probing {arm.optimizer.type}")
    model = bench.service.create(bench.config(arm, seeded=seeds))
    try:
        model.forward_backward(example).result()
        config = bench.config(arm, seeded=seeds).optimizer
        step = model.optim_step(config, arm.learning_rate or 1e-4).result()
    finally:
        model.release()
    if step.successful is False:
        raise ServiceError(
            f"the probe step of {arm.optimizer.type} was skipped by the server",
            where="service",
            hint="a gradient was not finite; look at the data",
        )
    return "accepted"


def look(bench: Workbench, arm: PlannedArm, seeds: bool) -> tuple[bool, bool]:
    """Whether weights can be exported and the optimizer observed; asked on a throw-away model."""
    model = bench.service.create(bench.config(arm, seeded=seeds))
    try:
        observes = model.info().observation is not None
        return exportable(bench, model), observes
    finally:
        model.release()


def exportable(bench: Workbench, model: Model) -> bool:
    """Whether the adapter can be downloaded. Without export the model must not be used again."""
    try:
        model.download_weights("export-probe", bench.scratch("export-probe"))
    except NotOfferedError:
        return False
    return True
