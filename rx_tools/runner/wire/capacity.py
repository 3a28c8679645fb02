"""What to do when the service is full: back off, and know when to give up (contract §13).

Wait 1, 2, then 4 minutes at a time. Before any comparison step ran, give up after 10 minutes;
afterwards after 30. An episode of waiting ends with the first success.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from rx_tools.runner.service import CapacityError

T = TypeVar("T")

BACKOFF = (60.0, 120.0, 240.0)
BEFORE_ANY_STEP = 600.0
AFTER_STEPS = 1800.0


class CapacityBlockedError(CapacityError):
    """The service stayed full for as long as the policy waits; `block` goes into the record."""

    def __init__(self, error: str, steps_completed: int, waited: float) -> None:
        super().__init__(
            f"the service stayed full for {waited / 60:.0f} minutes "
            f"({steps_completed} comparison steps completed): {error}",
            hint="try again later with --resume",
        )
        self.error, self.steps_completed = error, steps_completed

    def block(self, *, released_clients: bool) -> dict[str, Any]:
        """The record's `capacity_block`."""
        return {
            "error": self.error,
            "comparison_steps_completed": self.steps_completed,
            "released_clients": released_clients,
        }


class CapacityPolicy:
    """The policy of one run. `clock` counts seconds, `sleep` waits and may raise to interrupt.

    `steps_completed` counts the comparison steps acknowledged so far; `waited` is told of every
    pause before it begins.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        steps_completed: Callable[[], int],
        waited: Callable[[CapacityError, float], None] = lambda error, seconds: None,
    ) -> None:
        self.clock, self.sleep = clock, sleep
        self.steps_completed, self.waited = steps_completed, waited

    def episode(self) -> "Episode":
        """Begin to count: each piece of work has an episode of its own."""
        return Episode(self)

    def attempt(self, work: Callable[[], T]) -> T:
        """Do `work` again while the service is full; at the end `CapacityBlockedError`."""
        episode = self.episode()
        while True:
            try:
                return work()
            except CapacityBlockedError:
                raise
            except CapacityError as error:
                episode.wait(error)


class Episode:
    """One stretch of time in which the service was full."""

    def __init__(self, policy: CapacityPolicy) -> None:
        self._policy = policy
        self._since: float | None = None
        self._pauses = _pauses()

    def wait(self, error: CapacityError) -> None:
        """Pause before the next try, or raise `CapacityBlockedError` when patience is over."""
        now = self._policy.clock()
        if self._since is None:
            self._since, self._pauses = now, _pauses()
        waited = now - self._since
        steps = self._policy.steps_completed()
        left = (AFTER_STEPS if steps > 0 else BEFORE_ANY_STEP) - waited
        if not left > 0:
            raise CapacityBlockedError(error.what, steps, waited) from error
        pause = min(next(self._pauses), left)
        self._policy.waited(error, pause)
        self._policy.sleep(pause)

    def over(self) -> None:
        """Work went on; the next shortage starts counting anew."""
        self._since = None


def _pauses() -> Iterator[float]:
    yield from BACKOFF
    while True:
        yield BACKOFF[-1]
