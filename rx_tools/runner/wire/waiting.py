"""Waiting for one answer with an own limit, asking in between whether the server still lives."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from typing import TypeVar

from rx_tools.errors import ServiceError
from rx_tools.runner.service import CapacityError, NoAnswerError, UnreachableError
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.service_errors import Doing, classify

R = TypeVar("R")


class Waiter:
    """Waits for the futures of one session; `probe` raises what has become of the server."""

    def __init__(
        self, probe: Callable[[], None], limits: Limits, clock: Callable[[], float]
    ) -> None:
        self._probe, self._limits, self._clock = probe, limits, clock

    def wait(self, future: "Future[R]", seconds: float, doing: Doing) -> R:
        """The result within `seconds`, or the `ServiceError` that explains its absence."""
        patience = _Patience(self._limits)
        spent, pause = 0.0, self._limits.first_wait
        while spent < seconds:
            wait([future], timeout=min(pause, seconds - spent))
            if future.done():
                return _outcome(future, doing)
            spent += pause
            trouble = self._look()
            patience.judge(trouble, self._clock())
            longer = min(2 * pause, self._limits.longest_wait)
            pause = self._limits.first_wait if trouble else longer
        if doing in (Doing.CREATE, Doing.LOAD):
            raise CapacityError(f"{doing}: still pending after {seconds:.0f} s")
        raise NoAnswerError(f"{doing}: no answer after {seconds:.0f} s, although the service lives")

    def _look(self) -> ServiceError | None:
        try:
            self._probe()
        except ServiceError as error:
            return error
        return None


class _Patience:
    """One lost probe is no verdict: silence and business are borne for a while."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._since: float | None = None

    def judge(self, error: ServiceError | None, now: float) -> None:
        if error is None:
            self._since = None
            return
        if self._since is None:
            self._since = now
        if now - self._since >= self._bearable(error):
            raise error

    def _bearable(self, error: ServiceError) -> float:
        if isinstance(error, UnreachableError):
            return self._limits.silence_before_unreachable
        return self._limits.busy_before_capacity if isinstance(error, CapacityError) else 0.0


def _outcome(future: "Future[R]", doing: Doing) -> R:
    try:
        return future.result()
    except CancelledError as error:
        raise ServiceError(f"{doing}: the session was closed meanwhile") from error
    except Exception as error:
        raise classify(error, doing) from error
