"""Three-way restore: uninterrupted, restored and deliberately cold, one equal step each.

A service can bring the weights back and lose the optimizer: it then matches before the next step
and differs after it. So the restored model must equal the uninterrupted one after a step, and
differ from one that was loaded without its optimizer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.probes import echo
from rx_tools.runner.probes.bench import REPEATS, Bench, Logprobs, Movement, movement
from rx_tools.runner.probes.result import Outcome, ProbeResult, contradicted, proven, unproven
from rx_tools.runner.probes.shares import Share, Sides, direction, share
from rx_tools.runner.service import Datum, Model, ModelInfo

PROBE = "restore"
WARM_STEPS = 3
NAME = "rx-probe-restore"
EXTRA = 2
HALF_COLD = 0.5


@dataclass(frozen=True, slots=True)
class Way:
    """Logprobs before and after the decisive step, and what the server said before it."""

    before: list[Logprobs]
    after: list[Logprobs]
    info: ModelInfo


def probe(bench: Bench, learning_rate: float) -> ProbeResult:
    """Warm an optimizer up, save, and take the next step in three ways."""
    warm, last = halves(bench.batch)
    with bench.model() as model:
        for _ in range(WARM_STEPS):
            bench.step(model, learning_rate, batch=warm)
        uri = model.save_state(NAME, overwrite=True).result()
        uninterrupted = taken(bench, model, learning_rate, last)
    restored = reloaded(bench, uri, learning_rate, last, with_optimizer=True)
    cold = reloaded(bench, uri, learning_rate, last, with_optimizer=False)
    return judged(uninterrupted, restored, cold, bench.config.optimizer.type)


def halves(batch: Sequence[Datum]) -> tuple[Sequence[Datum], Sequence[Datum]]:
    """Two different parts, so that the momentum points elsewhere than the last gradient."""
    middle = len(batch) // 2
    return (batch[:middle], batch[middle:]) if middle else (batch, batch)


def reloaded(
    bench: Bench, uri: CheckpointUri, learning_rate: float, batch: Sequence[Datum], *,
    with_optimizer: bool,
) -> Way:  # fmt: skip
    """The same step on a model that starts from the saved state."""
    with bench.restored(uri, with_optimizer=with_optimizer) as model:
        return taken(bench, model, learning_rate, batch)


def taken(bench: Bench, model: Model, learning_rate: float, batch: Sequence[Datum]) -> Way:
    """One step, with the logprobs on both sides of it."""
    info, before = model.info(), bench.score(model)
    bench.step(model, learning_rate, batch=batch)
    return Way(before, bench.score(model, REPEATS + EXTRA), info)


@dataclass(frozen=True, slots=True)
class Distances:
    """The three ways against each other; `coldness` is 0 for a warm restore and 1 for a cold one.

    Its direction and its projection use different forwards of the uninterrupted way, so that
    their common noise cannot look like coldness.
    """

    weights: Movement
    same: Movement
    as_cold: Movement
    apart: Movement
    coldness: Share

    @classmethod
    def between(cls, uninterrupted: Way, restored: Way, cold: Way) -> "Distances":
        """All distances of three ways."""
        warm, rest = uninterrupted.after[:REPEATS], uninterrupted.after[REPEATS:]
        return cls(
            weights=movement(uninterrupted.before, restored.before),
            same=movement(uninterrupted.after, restored.after),
            as_cold=movement(cold.after, restored.after),
            apart=movement(uninterrupted.after, cold.after),
            coldness=share(Sides(rest, restored.after), direction(Sides(warm, cold.after))),
        )

    @property
    def tells_warm_from_cold(self) -> bool:
        """Whether a cold optimizer would have been seen."""
        seen = self.apart.well_seen and self.apart.distance >= 3 * self.same.limit
        return seen or self.coldness.is_none

    def figures(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "before_the_step_rms": self.weights.distance,
            "restored_to_uninterrupted_rms": self.same.distance,
            "restored_to_cold_rms": self.as_cold.distance,
            "cold_to_uninterrupted_rms": self.apart.distance,
            "limit_rms": self.same.limit,
            "coldness": self.coldness.figures(),
        }


def judged(uninterrupted: Way, restored: Way, cold: Way, asked: str) -> ProbeResult:
    """Which of the other two the restored model is."""
    distances = Distances.between(uninterrupted, restored, cold)
    named = echo.judged(asked, restored.info)
    figures: dict[str, Any] = {
        **distances.figures(),
        "echo_after_restore": named.figures["optimizer"],
        "observation_after_restore": named.figures["observation"],
        "state_before_saving": observed_state(uninterrupted.info),
        "state_after_restore": observed_state(restored.info),
    }
    if complaint := complaint_of(distances):
        return contradicted(PROBE, complaint, figures)
    if named.outcome is Outcome.CONTRADICTED:
        return contradicted(PROBE, f"after the restore: {named.reasons[0]}", figures)
    if distances.same.within_noise and distances.tells_warm_from_cold:
        return proven(PROBE, "the restored step equals the uninterrupted one", figures)
    return unproven(
        PROBE, "a cold optimizer cannot be told from a warm one: use more tokens", figures
    )


def complaint_of(distances: Distances) -> str:
    """What the restored model did wrong; empty where nothing shows."""
    weights, same = distances.weights, distances.same
    if weights.distance > weights.limit:
        return f"the restored weights differ by {weights.distance:.3g} nats before any step"
    differs = same.distance > same.limit
    as_cold = distances.as_cold.within_noise and distances.apart.distance > distances.apart.limit
    if (differs and as_cold) or distances.coldness.at_least(HALF_COLD):
        return "the optimizer came back cold: its step equals that of a load without optimizer"
    if not differs:
        return ""
    return (
        f"the restored step differs from the uninterrupted one by {same.distance:.3g} nats,"
        f" noise explains {same.limit:.3g}: another optimizer or state was restored"
    )


def observed_state(info: ModelInfo) -> str | None:
    """The state digest that the server shows, where it shows one."""
    state = (info.observation or {}).get("state_sha256")
    return None if state is None else str(state)
