"""A live table of the arms on standard error; silent when that is no terminal."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.table import Table

from rx_tools.runner.arms.events import ArmClosed, ArmOpened, Event, Scored, StepDone, Waiting

RECENT = 0.9
"""Weight of the past in the running mean of seconds per step."""


@dataclass(slots=True)
class ArmView:
    """What the table shows of one arm. `pace` is the running mean of seconds per step."""

    step: int = 0
    steps: int = 0
    train_nll: float | None = None
    pace: float | None = None
    tokens_per_second: float | None = None
    state: str = "starting"

    @property
    def seconds_left(self) -> float | None:
        """Measured pace times the steps to go."""
        return None if self.pace is None else self.pace * (self.steps - self.step)


class Progress:
    """Keeps the view of every arm; is a `Tell`."""

    def __init__(self) -> None:
        self.arms: dict[str, ArmView] = {}
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        """Take an event in."""
        with self._lock:
            view = self.arms.setdefault(event.arm, ArmView()) if event.arm else ArmView()
            _take_in(view, event)

    def table(self) -> Table:
        """The arms as they are now."""
        table = Table("arm", "step", "NLL", "tokens/s", "left", "state", box=None)
        with self._lock:
            for name, view in self.arms.items():
                table.add_row(name, *cells(view))
        return table


class LiveTable(Progress):
    """The table, redrawn while the context is open, on a terminal only."""

    def __init__(self, console: Console, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._clock, self._drawn = clock, -1.0
        shown = console.is_terminal and console.file.isatty()
        self._live = Live(console=console, auto_refresh=False) if shown else None

    def __call__(self, event: Event) -> None:
        """Take an event in, and redraw at most four times a second."""
        super().__call__(event)
        now = self._clock()
        if self._live is not None and now - self._drawn >= 0.25:
            self._drawn = now
            self._live.update(self.table(), refresh=True)

    def __enter__(self) -> "LiveTable":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.update(self.table(), refresh=True)
            self._live.stop()


def cells(view: ArmView) -> tuple[str, ...]:
    """One row of the table without its name."""
    nll = "" if view.train_nll is None else f"{view.train_nll:.4f}"
    speed = "" if view.tokens_per_second is None else f"{view.tokens_per_second:,.0f}"
    step = f"{view.step}/{view.steps}" if view.steps else ""
    return step, nll, speed, clock_text(view.seconds_left), view.state


def clock_text(seconds: float | None) -> str:
    """`1:02:03`, `4:05`; empty for None."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _take_in(view: ArmView, event: Event) -> None:
    match event:
        case ArmOpened():
            view.step, view.steps = event.step, event.steps
            view.state = "training" if event.restores == 0 else f"restored ×{event.restores}"
        case StepDone():
            _take_step(view, event)
        case ArmClosed():
            view.step, view.state = event.step, event.how
        case Scored():
            view.state = f"scored {event.done}/{event.total}"
        case Waiting():
            view.state = f"waiting {clock_text(event.seconds)}"


def _take_step(view: ArmView, event: StepDone) -> None:
    view.step, view.steps = event.step + 1, event.steps
    view.train_nll, view.state = event.train_nll, "training"
    past = event.seconds if view.pace is None else view.pace
    view.pace = RECENT * past + (1 - RECENT) * event.seconds
    view.tokens_per_second = event.tokens / view.pace if view.pace > 0 else None
