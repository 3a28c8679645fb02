"""Ctrl-C once: finish the step, save, leave. Twice: leave now."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rx_tools.errors import RunInterruptedError


class StopSignal:
    """A wish to stop that every arm looks at between two steps."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def request(self) -> None:
        """Ask every arm to save and leave after the steps under way."""
        self._event.set()

    def check(self) -> None:
        """Raise `RunInterruptedError` once a stop is requested."""
        if self.requested:
            raise RunInterruptedError("stopped", hint="continue with --resume")

    def sleep(self, seconds: float) -> None:
        """Sleep, but raise `RunInterruptedError` as soon as a stop is requested."""
        if self._event.wait(seconds):
            raise RunInterruptedError("stopped while waiting", hint="continue with --resume")


@contextmanager
def stopping_on_interrupt(stop: StopSignal, say: Callable[[str], None]) -> Iterator[None]:
    """Inside, the first Ctrl-C requests a stop and the second raises `KeyboardInterrupt`.

    Only the main thread may install signal handlers; elsewhere this changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop.request()
        say("stopping: finishing the steps under way and saving; Ctrl-C again leaves now")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
