"""Which failures of a service an arm survives, and how patiently."""

from collections.abc import Callable
from typing import TypeVar

from rx_tools.errors import ServiceError
from rx_tools.runner.arms.arm import Workshop
from rx_tools.runner.arms.events import Waiting
from rx_tools.runner.service import (
    CapacityError,
    ModelLostError,
    NoAnswerError,
    RefusedError,
    SessionClosedError,
    UnreachableError,
)
from rx_tools.runner.wire.capacity import CapacityBlockedError

T = TypeVar("T")

MOST_FAILURES_IN_A_ROW = 3
"""A model that is lost again and again without one update between is no accident."""

MOST_SECONDS_AWAY = 120.0
"""How long an unreachable service may take to come back."""


class Recovery:
    """Counts the failures of one arm since its last progress."""

    def __init__(self, arm: str, shop: Workshop) -> None:
        self._arm, self._shop = arm, shop
        self._shortage = shop.capacity.episode()
        self._failures, self._away, self._best = 0, 0.0, -1

    def bear(self, error: ServiceError, *, updates: int) -> None:
        """Return when another attempt makes sense, after the due pause; else raise `error`."""
        if updates > self._best:
            self._best, self._failures, self._away = updates, 0, 0.0
            self._shortage.over()
        if isinstance(error, CapacityBlockedError | RefusedError):
            raise error
        if isinstance(error, CapacityError):
            self._shortage.wait(error)
        elif isinstance(error, UnreachableError):
            self._wait_for_return(error)
        else:
            self._count(error)

    def _count(self, error: ServiceError) -> None:
        self._failures += 1
        known = isinstance(error, ModelLostError | SessionClosedError | NoAnswerError)
        if self._failures > (MOST_FAILURES_IN_A_ROW if known else 1):
            raise error

    def _wait_for_return(self, error: UnreachableError) -> None:
        pause = min(2.0**self._failures, 30.0)
        self._failures += 1
        self._away += pause
        if not self._away <= MOST_SECONDS_AWAY:
            raise error
        self._shop.tell(Waiting(self._arm, pause, str(error)))
        self._shop.capacity.sleep(pause)


def recovered(shop: Workshop, name: str, work: Callable[[], T]) -> T:
    """Do `work`, which changes nothing that lasts, again after every failure that can be borne."""
    recovery = Recovery(name, shop)
    while True:
        try:
            return work()
        except ServiceError as error:
            recovery.bear(error, updates=0)
