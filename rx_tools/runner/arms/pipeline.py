"""The steps of one live model: submitted ahead, acknowledged in order, saved now and then."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from rx_tools.errors import RunInterruptedError
from rx_tools.model.names import CheckpointUri, Sha256
from rx_tools.runner.arms.arm import ArmJob, HygieneError, Workshop
from rx_tools.runner.arms.checkpoint_names import checkpoint_name
from rx_tools.runner.arms.events import StepDone
from rx_tools.runner.arms.hygiene import check_count, check_executed, check_step, train_nll
from rx_tools.runner.data.order import batch_digest
from rx_tools.runner.service import Datum, ForwardResult, Model, Pending, StepResult


@dataclass(frozen=True, slots=True)
class Submitted:
    """A step under way: gradient and update were submitted back to back."""

    step: int
    batch: Sequence[Datum]
    digest: Sha256
    learning_rate: float
    gradient: Pending[ForwardResult]
    update: Pending[StepResult]


class Pipeline:
    """Trains `model` from `done` updates to the end of the job."""

    def __init__(self, job: ArmJob, shop: Workshop, model: Model, done: int, restores: int) -> None:
        self._job, self._shop, self._model = job, shop, model
        self._done, self._restores = done, restores
        self._saved = done if done else -1
        self._uri: CheckpointUri | None = None
        self._ahead: deque[Submitted] = deque()
        self._last = shop.timer()

    def run(self) -> CheckpointUri:
        """Every remaining step, then the final checkpoint.

        Raises `RunInterruptedError` after saving when a stop was requested, `HygieneError` for a
        step that cannot count, or the `ServiceError` that broke the flow.
        """
        for step in range(self._done, self._job.steps):
            if self._shop.stop.requested:
                break
            self._ahead.append(self._submit(step))
            self._acknowledge(self._job.ahead)
            if (step + 1) % self._job.checkpoint_every == 0:
                self._checkpoint()
        self._checkpoint()
        if self._done < self._job.steps or self._uri is None:
            raise RunInterruptedError(
                f"{self._job.name} stopped after {self._done} of {self._job.steps} steps, saved",
                hint="continue with --resume",
            )
        return self._uri

    def _submit(self, step: int) -> Submitted:
        batch = self._shop.batches.train_batch(self._job.seed, step)
        digest = batch_digest(batch)
        self._shop.paired.compare(self._job.seed, step, digest)
        rate = self._job.learning_rate(step)
        if not 0 <= rate < math.inf:
            raise HygieneError(f"step {step}: the learning rate is {rate}")
        gradient = self._model.forward_backward(batch)
        update = self._model.optim_step(self._job.config.optimizer, rate)
        return Submitted(step, batch, digest, rate, gradient, update)

    def _acknowledge(self, keep: int) -> None:
        """Wait for the oldest steps until at most `keep` are under way."""
        while len(self._ahead) > keep:
            self._acknowledge_one(self._ahead.popleft())

    def _acknowledge_one(self, submitted: Submitted) -> None:
        scored, outcome = submitted.gradient.result(), submitted.update.result()
        try:
            nll, tokens = train_nll(submitted.batch, scored)
            check_step(outcome)
        except HygieneError as error:
            raise HygieneError(f"step {submitted.step}: {error.what}", hint=error.hint) from error
        self._shop.note("update_acknowledged", self._update(submitted, nll, tokens, outcome))
        self._done = submitted.step + 1
        now = self._shop.timer()
        seconds, self._last = now - self._last, now
        self._shop.tell(
            StepDone(
                arm=self._job.name,
                step=submitted.step,
                steps=self._job.steps,
                train_nll=nll,
                learning_rate=submitted.learning_rate,
                tokens=tokens,
                seconds=seconds,
            )
        )

    def _update(
        self, submitted: Submitted, nll: float, tokens: int, outcome: StepResult
    ) -> dict[str, object]:
        told = {} if outcome.grad_norm is None else {"grad_norm": outcome.grad_norm}
        return {
            "arm": self._job.name,
            "seed": self._job.seed,
            "step": submitted.step,
            "batch_sha256": submitted.digest,
            "learning_rate": submitted.learning_rate,
            "optimizer": self._job.config.optimizer.type,
            "train_nll": nll,
            "tokens": tokens,
            "successful": outcome.successful,
            **told,
        }

    def _checkpoint(self) -> None:
        """Acknowledge everything under way, then save, unless this very state is saved already."""
        self._acknowledge(0)
        if self._saved == self._done:
            return
        name = checkpoint_name(self._shop.ledger.run_id, self._job.name, self._restores, self._done)
        self._uri = self._model.save_state(name).result()
        self._shop.note("checkpoint_saved", self._checkpoint_facts(self._uri))
        self._saved = self._done

    def _checkpoint_facts(self, uri: CheckpointUri) -> dict[str, object]:
        info = self._model.info()
        check_count(info, self._done)
        if self._done > 0:
            rate = self._job.learning_rate(self._done - 1)
            check_executed(info, self._job.config.optimizer, rate)
        state = (info.observation or {}).get("state_sha256")
        observed = {} if state is None else {"state_sha256": state}
        return {
            "arm": self._job.name,
            "step": self._done,
            "uri": uri,
            "with_optimizer": True,
            **observed,
        }
