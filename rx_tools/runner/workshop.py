"""Set up what the arms of one run share."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

from rx_tools.evidence.ledger import Ledger
from rx_tools.runner.arm import Batches, PairedBatches, Workshop
from rx_tools.runner.capacity import CapacityPolicy
from rx_tools.runner.events import Tell, Waiting, nobody
from rx_tools.runner.resume import known_batches, steps_completed
from rx_tools.runner.service import CapacityError, TrainingService
from rx_tools.runner.stop import StopSignal


def open_workshop(
    run: Path,
    ledger: Ledger,
    service: TrainingService,
    batches: Batches,
    *,
    stop: StopSignal | None = None,
    tell: Tell = nobody,
    clock: Callable[[], float] = monotonic,
    sleep: Callable[[float], None] | None = None,
) -> Workshop:
    """The workshop of the run directory `run`, with what its ledger already knows.

    Every pause for a full service is written to the ledger before it begins, and ends at once
    when a stop is requested.
    """
    stop = stop or StopSignal()

    def waited(error: CapacityError, seconds: float) -> None:
        completed = steps_completed(ledger.lines)
        ledger.append(
            "capacity_waited",
            {"error": error.what, "seconds": seconds, "comparison_steps_completed": completed},
        )
        tell(Waiting("", seconds, error.what))

    return Workshop(
        service=service,
        ledger=ledger,
        batches=batches,
        evidence=run / "evidence",
        work=run / "work",
        capacity=CapacityPolicy(
            clock, sleep or stop.sleep, lambda: steps_completed(ledger.lines), waited
        ),
        stop=stop,
        paired=PairedBatches(known_batches(ledger.lines)),
        tell=tell,
    )
