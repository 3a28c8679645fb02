"""Several arms at once, each in a thread of its own, with one ledger.

The first failure asks the others to stop: they finish their step, save and leave.
"""

from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock, Thread

from rx_tools.errors import DiskError, IntegrityError, RunInterruptedError
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.wire.capacity import CapacityBlockedError

GRAVEST_FIRST = (IntegrityError, DiskError, CapacityBlockedError)


def side_by_side(tasks: Mapping[str, Callable[[], None]], stop: StopSignal, *, width: int) -> None:
    """Do every task, in order, `width` at a time; tasks not begun when a stop comes are left out.

    Raises the gravest failure, and `RunInterruptedError` when tasks were left out. A second
    Ctrl-C (`KeyboardInterrupt`) leaves at once: the threads do not keep the process.
    """
    waiting = deque(tasks.values())
    failures: list[BaseException] = []
    lock = Lock()

    def work() -> None:
        while task := next_task():
            try:
                task()
            except BaseException as error:
                failures.append(error)
                stop.request()

    def next_task() -> Callable[[], None] | None:
        with lock:
            return waiting.popleft() if waiting and not stop.requested else None

    if width <= 1:
        work()
    else:
        _in_threads(work, min(width, len(tasks)))
    if failures:
        raise min(failures, key=gravity)
    if waiting:
        raise RunInterruptedError(
            f"stopped before {len(waiting)} of {len(tasks)} arms began", hint="rx run --resume"
        )


def gravity(error: BaseException) -> int:
    """0 for the gravest; an interruption is the least of all failures."""
    known = (place for place, kind in enumerate(GRAVEST_FIRST) if isinstance(error, kind))
    return next(known, len(GRAVEST_FIRST) + isinstance(error, RunInterruptedError))


def _in_threads(work: Callable[[], None], count: int) -> None:
    threads = [Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.1)
