"""Arms side by side: the same results as one after the other, and one ledger that verifies."""

import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rx_tools.errors import IntegrityError, RunInterruptedError
from rx_tools.evidence.ledger import read_ledger
from rx_tools.model.names import ArmName
from rx_tools.runner.arm import ArmJob, HygieneError
from rx_tools.runner.capacity import CapacityBlockedError
from rx_tools.runner.events import StepDone
from rx_tools.runner.parallel import ArmsOutcome, train_arms
from rx_tools.runner.service import CapacityError, RefusedError
from rx_tools.runner.stop import StopSignal, stopping_on_interrupt
from tests.runner.memory_service import MemoryModel, MemoryService
from tests.runner.workshop import FakeTime, make_job, make_shop


def six_arms() -> list[ArmJob]:
    return [
        make_job(f"{role}-s{seed}", seed=seed, learning_rate=lambda step, rate=rate: rate)
        for seed in range(3)
        for role, rate in (("low", 1e-3), ("high", 1e-2))
    ]


def tables(service: MemoryService, outcome: ArmsOutcome) -> dict[ArmName, np.ndarray]:
    return {name: service.checkpoints[arm.uri].table for name, arm in outcome.finished.items()}


def test_side_by_side_is_the_same_as_one_after_the_other(tmp_path: Path) -> None:
    results = []
    for width in (1, 3):
        folder, service = tmp_path / str(width), MemoryService()
        folder.mkdir()
        outcome = train_arms(six_arms(), make_shop(folder, service), width=width)
        reading = read_ledger(folder / "ledger.jsonl")
        assert not reading.findings and not outcome.failed
        results.append(tables(service, outcome))
    assert results[0].keys() == results[1].keys()
    assert all(np.array_equal(results[0][name], results[1][name]) for name in results[0])


def test_a_failed_arm_does_not_stop_the_others_and_is_done_by_a_resume(tmp_path: Path) -> None:
    refused = {"left": 1}

    def refuse_once(operation: str, model: MemoryModel) -> None:
        if operation == "optim_step" and refused["left"]:
            refused["left"] -= 1
            raise RefusedError("no")

    shop = make_shop(tmp_path, MemoryService(refuse_once))
    outcome = train_arms(six_arms(), shop)
    assert len(outcome.finished) == 5 and list(outcome.failed) == ["low-s0"]
    with pytest.raises(RefusedError):
        outcome.raise_gravest()
    again = train_arms(six_arms(), shop, resume=True)
    assert len(again.finished) == 6 and not again.failed
    finished = [line for line in shop.ledger.lines if line.event == "arm_finished"]
    assert len(finished) == 6


def test_a_service_that_stays_full_stops_every_arm(tmp_path: Path) -> None:
    def full(operation: str, model: MemoryModel) -> None:
        if operation == "create":
            raise CapacityError("429")

    shop = make_shop(tmp_path, MemoryService(full), time=FakeTime())
    outcome = train_arms(six_arms(), shop)
    assert len(outcome.failed) == 1
    with pytest.raises(CapacityBlockedError):
        outcome.raise_gravest()


def test_a_stop_saves_every_arm_under_way(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())
    done = threading.Semaphore(0)

    def stop_soon(event: object) -> None:
        if isinstance(event, StepDone) and event.step == 5:
            done.release()
            shop.stop.request()

    outcome = train_arms(six_arms(), replace(shop, tell=stop_soon), width=2)
    assert outcome.failed and set(map(type, outcome.failed.values())) == {RunInterruptedError}
    with pytest.raises(RunInterruptedError, match="--resume"):
        outcome.raise_gravest()
    saved = {line.data["arm"] for line in shop.ledger.lines if line.event == "checkpoint_saved"}
    assert set(outcome.failed) <= saved


def test_the_gravest_failure_is_raised() -> None:
    outcome = ArmsOutcome(
        failed={
            ArmName("a"): RunInterruptedError("stopped"),
            ArmName("b"): HygieneError("skipped"),
            ArmName("c"): IntegrityError("damaged"),
        }
    )
    with pytest.raises(IntegrityError):
        outcome.raise_gravest()
    del outcome.failed[ArmName("c")]
    with pytest.raises(HygieneError):
        outcome.raise_gravest()


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
