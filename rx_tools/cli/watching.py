"""Progress while arms run: a live table on a terminal, JSON lines for programs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rx_tools.runner.arms.events import Event, EventFile, everybody
from rx_tools.runner.arms.progress import LiveTable

EventsFile = Annotated[
    Path | None, typer.Option("--events", help="Append one JSON line per event to this file.")
]


@contextmanager
def watching(quiet: bool, events: Path | None) -> Iterator[Callable[[Event], None]]:
    """Whoever listens: the table when stderr is a terminal, the file when one is named."""
    with ExitStack() as stack:
        listeners: list[Callable[[Event], None]] = []
        if events:
            file = EventFile(events)
            stack.callback(file.close)
            listeners.append(file)
        if not quiet:
            listeners.append(stack.enter_context(LiveTable(Console(stderr=True))))
        yield everybody(listeners)
