"""Which service a run talks to: the embedded one in a rehearsal, else the environment's."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rx_tools.local.launcher import launch
from rx_tools.local.revision import revision
from rx_tools.local.settings import TINY_NAME
from rx_tools.planning.rehearsal import Stage
from rx_tools.runner.connect import connect
from rx_tools.runner.service import TrainingService

BUILT_IN_CHATS = "rx/built-in-chats"


def stage() -> Stage:
    """What a rehearsal plays on."""
    return Stage(model=TINY_NAME, dataset=BUILT_IN_CHATS, revision=revision())


@contextmanager
def serving(
    work: Path, *, rehearse: bool, like: str | None, faults: Sequence[str] = ()
) -> Iterator[TrainingService]:
    """A connected service; leaving the context closes it, and stops the embedded one."""
    if not rehearse:
        service = connect(os.environ)
        try:
            yield service
        finally:
            service.close()
        return
    with launch(work / "store", faults=faults, like=like, log=work / "service.log") as running:
        service = connect(running.environment)
        try:
            yield service
        finally:
            service.close()
