"""One worker; operations of one model run in the order of their sequence numbers."""

import queue
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock, Thread

from rx_tools.local.complaints import complain
from rx_tools.local.futures import Future, FutureTable, failure
from rx_tools.local.http import Response
from rx_tools.local.refusals import Category, HttpRefusalError, OperationFailedError

BUFFERED_AT_MOST = 256
Work = Callable[[], Response]


@dataclass(slots=True)
class Lane:
    """The operations of one model: `waiting` for their turn by sequence number."""

    turn: int = 1
    waiting: dict[int, tuple[Future, Work]] = field(default_factory=dict)
    running: bool = False


class Scheduler:
    """Owns the worker thread. `quiet` is held while an operation runs."""

    def __init__(self) -> None:
        self.futures = FutureTable()
        self.quiet = Lock()
        self._lanes: dict[str, Lane] = {}
        self._ready: queue.SimpleQueue[tuple[Future, Work, str] | None] = queue.SimpleQueue()
        self._lock = Lock()
        self._thread = Thread(target=self._work, name="worker", daemon=True)
        self._thread.start()

    def stall(self, key: Hashable) -> str:
        """A future that is never answered: its work waits for capacity."""
        future, _ = self.futures.open(key)
        future.queue_state = "paused_capacity"
        return future.request_id

    def submit(self, key: Hashable, work: Work) -> str:
        """Run `work` as soon as the worker is free; a repeated `key` runs nothing again."""
        future, new = self.futures.open(key)
        if new:
            self._ready.put((future, work, ""))
        return future.request_id

    def submit_in_order(self, model: str, turn: int, work: Work) -> str:
        """Run `work` when all earlier turns of the model have run."""
        with self._lock:
            lane = self._lanes.setdefault(model, Lane())
            if turn > lane.turn + BUFFERED_AT_MOST or len(lane.waiting) >= BUFFERED_AT_MOST:
                raise HttpRefusalError(429, f"more than {BUFFERED_AT_MOST} buffered operations")
            future, new = self.futures.open((model, turn))
            if new and turn < lane.turn:
                self.futures.finish(
                    future, failure(f"operation {turn} has already run", Category.USER)
                )
            elif new:
                lane.waiting[turn] = future, work
                self._advance(model, lane)
        return future.request_id

    def close(self) -> None:
        """Let the running operation finish, then stop."""
        self._ready.put(None)
        self._thread.join(timeout=30)

    def forget(self, model: str, why: str) -> None:
        """Fail what still waits for a model that is gone."""
        with self._lock:
            lane = self._lanes.pop(model, Lane())
        for future, _ in lane.waiting.values():
            self.futures.finish(future, failure(why, Category.SERVER))

    def _advance(self, model: str, lane: Lane) -> None:
        if lane.running or lane.turn not in lane.waiting:
            return
        future, work = lane.waiting.pop(lane.turn)
        lane.running = True
        self._ready.put((future, work, model))

    def _work(self) -> None:
        while (job := self._ready.get()) is not None:
            future, work, model = job
            with self.quiet:
                response = _outcome(work)
            self.futures.finish(future, response)
            with self._lock:
                lane = self._lanes.get(model)
                if lane is not None:
                    lane.turn, lane.running = lane.turn + 1, False
                    self._advance(model, lane)


def _outcome(work: Work) -> Response:
    try:
        return work()
    except OperationFailedError as error:
        return failure(error.sentence, error.category)
    except HttpRefusalError as error:
        return failure(error.sentence, Category.USER)
    except Exception as error:  # the service must outlive any fault of one operation
        complain()
        return failure(f"internal error: {type(error).__name__}: {error}", Category.SERVER)
