"""The pilot: the treatment arm for a few steps in the exact regime, timed and measured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rx_tools.planning.arms import roles_of
from rx_tools.planning.metrics import treatment_role
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.preflight.restoration import Start, open_arm
from rx_tools.runner.preflight.service_check import ServiceFacts
from rx_tools.runner.service import Datum, ForwardResult, Model, ModelInfo
from rx_tools.runner.whole.workbench import Workbench

STEPS = 11
"""Steps 0 to 10: what a drop from step 0 to step 10 needs."""


@dataclass(frozen=True)
class Pilot:
    """What the pilot showed. `losses[i]` is the token-mean training loss before update i, in nats.

    `adapters` are the downloaded files before and after the first update, None where the service
    exports none. Seconds are wall time: of the setup, of all steps, of a save, kill and restore.
    """

    arm: PlannedArm
    info: ModelInfo
    parameters_type: str
    learning_rate: float
    losses: tuple[float, ...]
    adapters: tuple[Path, Path] | None
    setup_seconds: float
    step_seconds: float
    recovery_seconds: float

    @property
    def steps(self) -> int:
        """Updates that the pilot made."""
        return len(self.losses)


def pilot_arm(bench: Workbench) -> PlannedArm:
    """The first confirmation arm of the treatment role."""
    role = treatment_role(roles_of(bench.spec))
    arms = bench.plan.confirmation
    return next((arm for arm in arms if arm.role == role), arms[0])


def pilot_rate(bench: Workbench, arm: PlannedArm) -> float:
    """The arm's rate, or the middle one of the grid that it waits for."""
    if arm.learning_rate is not None:
        return arm.learning_rate
    grid = next(grid for grid in bench.plan.grids if grid.id == arm.grid)
    return grid.learning_rates[len(grid.learning_rates) // 2]


def run_pilot(bench: Workbench, facts: ServiceFacts, starts: Mapping[int, Start]) -> Pilot:
    """Train the treatment arm for the pilot's steps, then save, kill and restore it."""
    arm = pilot_arm(bench)
    rate = pilot_rate(bench, arm)
    began = bench.timer()
    model, _ = open_arm(bench, arm, starts[arm.seed])
    try:
        info = model.info()
        setup = bench.timer() - began
        before = download(bench, facts, model, "step-0")
        losses, seconds, after = train(bench, facts, model, arm, rate)
        recovery = recover(bench, model, arm)
    finally:
        model.release()
    return Pilot(
        arm=arm,
        info=info,
        parameters_type=PARAMETERS_TYPE.get(arm.optimizer.type, "OptimParamsBase"),
        learning_rate=rate,
        losses=losses,
        adapters=(before, after) if before and after else None,
        setup_seconds=setup,
        step_seconds=seconds,
        recovery_seconds=recovery,
    )


PARAMETERS_TYPE = {"adamw": "AdamParams", "dimuon": "DimuonParams"}
"""Optimizer type → the SDK's class of the parameters that every step passes."""


def train(
    bench: Workbench, facts: ServiceFacts, model: Model, arm: PlannedArm, rate: float
) -> tuple[tuple[float, ...], float, Path | None]:
    """The losses, the seconds of the steps alone, and the adapter after the first update."""
    config = bench.config(arm, seeded=False).optimizer
    losses: list[float] = []
    seconds, after = 0.0, None
    for step in range(min(STEPS, arm.steps)):
        bench.tell(f"pilot: step {step}")
        batch = bench.data.train_batch(arm.seed, step)
        began = bench.timer()
        forward = model.forward_backward(batch)
        update = model.optim_step(config, bench.plan.schedule.rate(rate, step, arm.steps))
        losses.append(token_mean(batch, forward.result()))
        if update.result().successful is False:
            losses[-1] = math.nan
        seconds += bench.timer() - began
        if step == 0:
            after = download(bench, facts, model, "step-1")
    return tuple(losses), seconds, after


def token_mean(batch: Sequence[Datum], result: ForwardResult) -> float:
    """Token-mean loss of a batch in nats, from log-probabilities and mask alone."""
    pairs = [
        (float(-logprob), 1)
        for datum, logprobs in zip(batch, result.logprobs, strict=True)
        for logprob in logprobs[datum.weights > 0]
    ]
    return math.fsum(loss for loss, _ in pairs) / len(pairs) if pairs else math.nan


def download(bench: Workbench, facts: ServiceFacts, model: Model, name: str) -> Path | None:
    """The adapter's tensor file, None where the service exports none."""
    if not facts.exports:
        return None
    files = model.download_weights(f"pilot-{name}", bench.scratch(f"pilot/{name}"))
    return next(path for file, path in files.items() if file.endswith(".safetensors"))


def recover(bench: Workbench, model: Model, arm: PlannedArm) -> float:
    """Seconds of one real save, kill and restore with optimizer."""
    bench.tell("pilot: save, kill, restore")
    began = bench.timer()
    uri = model.save_state(f"recovery-{bench.run.run_id}").result()
    model.release()
    restored, _ = bench.service.create_from_state(
        bench.config(arm, seeded=False), uri, with_optimizer=True
    )
    try:
        restored.forward(bench.data.train_batch(arm.seed, 0)).result()
        return bench.timer() - began
    finally:
        restored.release()
