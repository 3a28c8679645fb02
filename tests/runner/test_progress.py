"""What people and programs see while arms run."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import rx_tools
from rx_tools.checks.shape import judge_shape
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.events import (
    ArmClosed,
    ArmOpened,
    Event,
    EventFile,
    Scored,
    StepDone,
    Waiting,
    everybody,
    to_json,
)
from rx_tools.runner.arms.progress import LiveTable, Progress, clock_text
from tests.runner.memory_service import MemoryService
from tests.runner.workshop import make_job, make_shop


def step(number: int, seconds: float = 2.0) -> StepDone:
    return StepDone("a", number, 10, 1.5, 1e-4, 300, seconds)


def shown(progress: Progress) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(progress.table())
    return console.file.getvalue()


def test_the_table_shows_step_loss_speed_and_time_left_from_measured_steps() -> None:
    progress = Progress()
    progress(ArmOpened("a", 0, 10, 0))
    for number in range(4):
        progress(step(number))
    text = shown(progress)
    assert "4/10" in text and "1.5000" in text and "150" in text and "0:12" in text


def test_the_state_follows_the_arm() -> None:
    progress = Progress()
    for event, state in [
        (ArmOpened("a", 4, 10, 2), "restored ×2"),
        (Waiting("a", 60, "429"), "waiting 1:00"),
        (Scored("a", 3, 40), "scored 3/40"),
        (ArmClosed("a", 10, "finished"), "finished"),
    ]:
        progress(event)
        assert state in shown(progress)


def test_times_are_readable() -> None:
    assert [clock_text(s) for s in (None, 0, 59.6, 3723)] == ["", "0:00", "1:00", "1:02:03"]


def test_a_table_that_is_piped_prints_nothing() -> None:
    out = io.StringIO()
    with LiveTable(Console(file=out)) as table:
        table(step(1))
    assert out.getvalue() == ""


def test_every_event_is_one_json_line_for_programs(tmp_path: Path) -> None:
    file, progress = EventFile(tmp_path / "events.jsonl"), Progress()
    train_arm(make_job(), make_shop(tmp_path, MemoryService(), tell=everybody([file, progress])))
    file.close()
    rows = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [row["event"] for row in rows] == ["ArmOpened", *["StepDone"] * 10, "ArmClosed"]
    assert {row["schema"] for row in rows} == {"urn:rx:schema:event:1"}
    assert {row["rx_version"] for row in rows} == {rx_tools.__version__}
    assert rows[3]["step"] == 2 and rows[-1]["how"] == "finished"


@pytest.mark.parametrize(
    "event",
    [
        ArmOpened("a", 0, 10, 1),
        step(1),
        *(ArmClosed("a", 3, how, "why") for how in ("finished", "interrupted", "failed")),
        Scored("a", 3, 10),
        Waiting("a", 60.0, "trainer capacity exhausted"),
    ],
)
def test_every_event_is_of_its_schema(event: Event) -> None:
    assert judge_shape(to_json(event), "event", "event") == ()
