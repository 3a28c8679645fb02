"""Train one arm, exactly once, whatever happens on the way.

Completion means that every planned step was acknowledged and the final checkpoint confirmed. A lost
model, a closed session, a restarted or a full service leads back to the last checkpoint; the
updates after it are replayed, and the ledger says which ones.
"""

import json
from contextlib import suppress

from rx_tools.errors import DiskError, RunInterruptedError, RxError, ServiceError, UsageError
from rx_tools.evidence.publish import publish
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.arms.arm import ArmJob, ArmOutcome, Workshop
from rx_tools.runner.arms.arm_opening import open_arm
from rx_tools.runner.arms.events import ArmClosed, ArmOpened
from rx_tools.runner.arms.pipeline import Pipeline
from rx_tools.runner.arms.recovery import Recovery
from rx_tools.runner.arms.resume import ArmHistory, arm_history


def train_arm(job: ArmJob, shop: Workshop, *, resume: bool = False) -> ArmOutcome:
    """Train `job` to its end; with `resume`, go on from its last checkpoint.

    Raises `UsageError` when the arm is done, or was started and `resume` is false;
    `RunInterruptedError` when a stop was requested (the state is saved); `HygieneError` for a
    step that cannot count; `CapacityBlockedError` or another `ServiceError` when the service
    gave out. In each case the ledger has an `arm_stopped` and a resume goes on from there.
    """
    before = arm_history(shop.ledger.lines, job.name)
    refuse_mistakes(job, before, resume)
    shop.note(
        "arm_started",
        {"arm": job.name, "attempt": before.attempts + 1, "clearance": job.clearance},
    )
    try:
        uri = _train_with_recovery(job, shop)
    except RxError as error:
        _note_stop(job, shop, error)
        raise
    return _finish(job, shop, uri)


def refuse_mistakes(job: ArmJob, history: ArmHistory, resume: bool) -> None:
    """Raise `UsageError` for an arm that is done, or under way without `--resume`."""
    if history.finished is not None:
        raise UsageError(
            f"arm {job.name} is done: {len(history.rows)} steps, {history.finished}",
            hint="every arm is trained exactly once",
        )
    if history.attempts and not resume:
        raise UsageError(
            f"arm {job.name} was started before and holds {history.resume_step} saved updates",
            hint="continue it with --resume",
        )


def _train_with_recovery(job: ArmJob, shop: Workshop) -> CheckpointUri:
    recovery = Recovery(job.name, shop)
    while True:
        history = arm_history(shop.ledger.lines, job.name)
        try:
            return _attempt(job, shop, history)
        except ServiceError as error:
            recovery.bear(error, updates=len(arm_history(shop.ledger.lines, job.name).rows))


def _attempt(job: ArmJob, shop: Workshop, history: ArmHistory) -> CheckpointUri:
    last = history.last
    if last is not None and last.step == job.steps:
        return last.uri
    model = open_arm(job, shop, history)
    try:
        now = arm_history(shop.ledger.lines, job.name)
        shop.tell(ArmOpened(job.name, now.resume_step, job.steps, now.restores))
        return Pipeline(job, shop, model, now.resume_step, now.restores).run()
    finally:
        model.release()


def _note_stop(job: ArmJob, shop: Workshop, error: RxError) -> None:
    history = arm_history(shop.ledger.lines, job.name)
    how = "interrupted" if isinstance(error, RunInterruptedError) else "failed"
    facts = {
        "arm": job.name,
        "step": len(history.rows),
        "how": how,
        "kind": type(error).__name__,
        "reason": str(error),
    }
    with suppress(DiskError):
        shop.note("arm_stopped", facts)
    shop.tell(ArmClosed(job.name, len(history.rows), how, str(error)))


def _finish(job: ArmJob, shop: Workshop, uri: CheckpointUri) -> ArmOutcome:
    history = arm_history(shop.ledger.lines, job.name)
    name = f"metrics-{job.name}.jsonl"
    lines = (json.dumps(row, sort_keys=True, allow_nan=False) + "\n" for row in history.rows)
    published = publish(shop.evidence, name, "".join(lines).encode("ascii"))
    files = {published.name: published.sha256}
    shop.ledger.append("arm_finished", {"arm": job.name, "steps": job.steps, "uri": uri}, files)
    shop.tell(ArmClosed(job.name, job.steps, "finished"))
    return ArmOutcome(job.name, job.steps, uri, history.restores, files)
