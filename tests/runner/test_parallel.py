"""Arms side by side: the same results as one after the other, and one ledger that verifies."""

import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rx_tools.errors import IntegrityError, RunInterruptedError
from rx_tools.evidence.ledger import read_ledger
from rx_tools.runner.arms.arm import ArmJob, HygieneError, Workshop
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.events import StepDone
from rx_tools.runner.arms.parallel import side_by_side
from rx_tools.runner.arms.stop import StopSignal, stopping_on_interrupt
from rx_tools.runner.service import CapacityError, RefusedError
from rx_tools.runner.wire.capacity import CapacityBlockedError
from tests.runner.memory_service import MemoryModel, MemoryService
from tests.runner.workshop import FakeTime, make_job, make_shop


def six_arms() -> list[ArmJob]:
    return [
        make_job(f"{role}-s{seed}", seed=seed, learning_rate=lambda step, rate=rate: rate)
        for seed in range(3)
        for role, rate in (("low", 1e-3), ("high", 1e-2))
    ]


def train(shop: Workshop, width: int) -> dict[str, str]:
    """Train what is not finished, `width` at a time: arm → final checkpoint."""
    finished = {line.data["arm"] for line in shop.ledger.lines if line.event == "arm_finished"}
    side_by_side(
        {
            job.name: partial(train_arm, job, shop, resume=True)
            for job in six_arms()
            if job.name not in finished
        },
        shop.stop,
        width=width,
    )
    ended = [line.data for line in shop.ledger.lines if line.event == "arm_finished"]
    return {data["arm"]: data["uri"] for data in ended}


def test_side_by_side_is_the_same_as_one_after_the_other(tmp_path: Path) -> None:
    results = []
    for width in (1, 3):
        folder, service = tmp_path / str(width), MemoryService()
        folder.mkdir()
        uris = train(make_shop(folder, service), width)
        assert not read_ledger(folder / "ledger.jsonl").findings
        results.append({arm: service.checkpoints[uri].table for arm, uri in uris.items()})
    assert results[0].keys() == results[1].keys() and len(results[0]) == 6
    assert all(np.array_equal(results[0][arm], results[1][arm]) for arm in results[0])


@pytest.mark.parametrize("width", [1, 3])
def test_after_a_failed_arm_nothing_new_begins_and_a_resume_finishes(
    tmp_path: Path, width: int
) -> None:
    refused = {"left": 1}

    def refuse_once(operation: str, model: MemoryModel) -> None:
        if operation == "optim_step" and refused["left"]:
            refused["left"] -= 1
            raise RefusedError("no")

    service = MemoryService(refuse_once)
    shop = make_shop(tmp_path, service)
    with pytest.raises(RefusedError):
        train(shop, width)
    assert sum(line.event == "arm_started" for line in shop.ledger.lines) <= width
    assert len(train(replace(shop, stop=StopSignal()), width)) == 6


def test_a_service_that_stays_full_stops_every_arm(tmp_path: Path) -> None:
    def full(operation: str, model: MemoryModel) -> None:
        if operation == "create":
            raise CapacityError("429")

    shop = make_shop(tmp_path, MemoryService(full), time=FakeTime())
    with pytest.raises(CapacityBlockedError):
        train(shop, 2)


def test_a_stop_saves_every_arm_under_way(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())

    def stop_soon(event: object) -> None:
        if isinstance(event, StepDone) and event.step == 5:
            shop.stop.request()

    with pytest.raises(RunInterruptedError, match="--resume"):
        train(replace(shop, tell=stop_soon), 2)
    saved = {line.data["arm"] for line in shop.ledger.lines if line.event == "checkpoint_saved"}
    stopped = {line.data["arm"] for line in shop.ledger.lines if line.event == "arm_stopped"}
    assert stopped and stopped <= saved


def test_the_gravest_failure_is_raised() -> None:
    def failing(error: Exception) -> None:
        raise error

    errors = [RunInterruptedError("stopped"), HygieneError("skipped"), IntegrityError("damaged")]
    for count, kind in [(3, IntegrityError), (2, HygieneError), (1, RunInterruptedError)]:
        tasks = {str(number): partial(failing, errors[number]) for number in range(count)}
        with pytest.raises(kind):
            side_by_side(tasks, _deaf(), width=3)


def _deaf() -> StopSignal:
    """A signal that nobody heeds, so that every task fails."""

    class Deaf(StopSignal):
        requested = False

    return Deaf()


def test_a_stop_between_two_arms_is_an_interruption() -> None:
    stop, begun = StopSignal(), []
    stop.request()
    with pytest.raises(RunInterruptedError, match="before 1 of 1"):
        side_by_side({"a": lambda: begun.append("a")}, stop, width=1)
    assert begun == []


def test_the_first_interrupt_asks_to_stop_and_the_second_leaves() -> None:
    stop, said = StopSignal(), []
    with pytest.raises(KeyboardInterrupt), stopping_on_interrupt(stop, said.append):
        signal.raise_signal(signal.SIGINT)
        assert stop.requested and len(said) == 1
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_waiting_for_capacity_ends_at_once_when_a_stop_is_asked_for() -> None:
    stop = StopSignal()
    stop.request()
    with pytest.raises(RunInterruptedError):
        stop.sleep(3600)
