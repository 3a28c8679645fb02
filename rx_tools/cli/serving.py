"""Which service a run talks to: the embedded one in a rehearsal, else the environment's."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from rx_tools.errors import DiskError, ServiceError
from rx_tools.local.launcher import Running, launch
from rx_tools.local.revision import revision
from rx_tools.local.settings import TINY_NAME
from rx_tools.planning.rehearsal import Stage
from rx_tools.runner.data.sources import BUILT_IN
from rx_tools.runner.service import TrainingService
from rx_tools.runner.wire.connect import connect
from rx_tools.runner.wire.reviving import RevivingService

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def stage() -> Stage:
    """What a rehearsal plays on."""
    return Stage(model=TINY_NAME, dataset=BUILT_IN, revision=revision())


@contextmanager
def serving(
    work: Path, *, rehearse: bool, like: str | None, faults: Sequence[str] = ()
) -> Iterator[TrainingService]:
    """A connected service; leaving the context closes it, and stops the embedded one."""
    service: TrainingService
    if not rehearse:
        service = connect(os.environ)
        try:
            yield service
        finally:
            service.close()
        return
    with Revivable(work, like, faults) as embedded, own_disk(work):
        service = RevivingService(embedded.connect)
        try:
            yield service
        finally:
            service.close()


@contextmanager
def own_disk(work: Path) -> Iterator[None]:
    """The embedded service stores beside the run: when its disk gives out, ours has."""
    try:
        yield
    except ServiceError as error:
        full = next((text for text in map(os.strerror, FULL) if text in error.what), None)
        if full is None:
            raise
        raise DiskError(
            full, where=str(work), hint="make room, then go on with `rx run --resume`"
        ) from error


class Revivable:
    """The embedded service on the run's own store, started anew when it has died."""

    def __init__(self, work: Path, like: str | None, faults: Sequence[str]) -> None:
        self._work, self._like, self._faults = work, like, faults
        self._running: Running | None = None

    def connect(self) -> TrainingService:
        """A connection to the live service, which is launched if there is none."""
        if self._running is None or self._running.process.poll() is not None:
            self._stop()
            self._running = launch(
                self._work / "store",
                faults=self._faults,
                like=self._like,
                log=self._work / "service.log",
            )
        return connect(self._running.environment)

    def _stop(self) -> None:
        if self._running is not None:
            self._running.stop()

    def __enter__(self) -> "Revivable":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
