"""Several arms at once, each in a thread of its own, with one ledger.

A failed arm does not stop the others; a stop, a full service that stays full, and a full disk do.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock, Thread

from rx_tools.errors import DiskError, IntegrityError, RunInterruptedError, RxError
from rx_tools.model.names import ArmName
from rx_tools.runner.arm import ArmJob, ArmOutcome, Workshop
from rx_tools.runner.arm_loop import train_arm
from rx_tools.runner.capacity import CapacityBlockedError
from rx_tools.runner.resume import arm_history

ENDS_THE_RUN = (CapacityBlockedError, DiskError, IntegrityError, RunInterruptedError)


@dataclass(slots=True)
class ArmsOutcome:
    """What became of the arms that were begun; arms never begun are in neither."""

    finished: dict[ArmName, ArmOutcome] = field(default_factory=dict)
    failed: dict[ArmName, RxError] = field(default_factory=dict)

    def raise_gravest(self) -> None:
        """Raise the failure that matters most, if any: an interruption only if nothing else."""
        if self.failed:
            raise min(self.failed.values(), key=gravity)


def gravity(error: RxError) -> int:
    """0 for the gravest; an interruption is the least of all failures."""
    gravest = (IntegrityError, DiskError, CapacityBlockedError)
    known = (place for place, kind in enumerate(gravest) if isinstance(error, kind))
    return next(known, len(gravest) + isinstance(error, RunInterruptedError))


def train_arms(
    jobs: Sequence[ArmJob], shop: Workshop, *, width: int = 1, resume: bool = False
) -> ArmsOutcome:
    """Train every job that is not done yet, `width` at a time; done ones are answered as they are.

    A second Ctrl-C (`KeyboardInterrupt`) leaves at once: the threads do not keep the process.
    """
    outcome, lock = ArmsOutcome(), Lock()
    waiting: deque[ArmJob] = deque()
    for job in jobs:
        done = finished_outcome(job, shop)
        if done is None:
            waiting.append(job)
        else:
            outcome.finished[job.name] = done

    def work() -> None:
        while True:
            with lock:
                if not waiting or shop.stop.requested:
                    return
                job = waiting.popleft()
            _train_one(job, shop, outcome, resume=resume)

    threads = [Thread(target=work, daemon=True) for _ in range(max(1, min(width, len(waiting))))]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.1)
    return outcome


def finished_outcome(job: ArmJob, shop: Workshop) -> ArmOutcome | None:
    """The outcome of an arm that the ledger says is done, else None."""
    history = arm_history(shop.ledger.lines, job.name)
    if history.finished is None:
        return None
    line = next(
        line
        for line in shop.ledger.lines
        if line.event == "arm_finished" and line.data.get("arm") == job.name
    )
    return ArmOutcome(job.name, job.steps, history.finished, history.restores, line.files)


def _train_one(job: ArmJob, shop: Workshop, outcome: ArmsOutcome, *, resume: bool) -> None:
    try:
        outcome.finished[job.name] = train_arm(job, shop, resume=resume)
    except RxError as error:
        outcome.failed[job.name] = error
        if isinstance(error, ENDS_THE_RUN):
            shop.stop.request()
    except Exception as error:
        outcome.failed[job.name] = RxError(f"{job.name}: {type(error).__name__}: {error}")
        shop.stop.request()
        raise
