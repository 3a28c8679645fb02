"""A full service is waited for wherever a model is created; a missing one has a closest kin."""

from pathlib import Path

import pytest

from rx_tools.errors import RunInterruptedError
from rx_tools.runner.arms.recovery import recovered
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.service import CapacityError, ModelLostError, SessionClosedError
from rx_tools.runner.wire.capacity import CapacityBlockedError, CapacityPolicy
from rx_tools.runner.wire.patient import PatientService
from rx_tools.runner.wire.substitution import closest_served
from tests.runner.memory_service import MemoryModel, MemoryService
from tests.runner.workshop import FakeTime, make_job, make_shop


class Full:
    """Is full for a number of creations."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, operation: str, model: MemoryModel) -> None:
        if operation == "create" and self.left > 0:
            self.left -= 1
            raise CapacityError("trainer capacity exhausted")


def patient(service: MemoryService, time: FakeTime) -> PatientService:
    return PatientService(service, CapacityPolicy(time.clock, time.sleep, lambda: 0))


def test_creations_and_loads_wait_until_there_is_room() -> None:
    time = FakeTime()
    service = patient(MemoryService(Full(2)), time)
    model = service.create(make_job().config)
    uri = model.save_state("a").result()
    assert time.sleeps == [60, 120]
    _, loaded = service.create_from_state(make_job().config, uri, with_optimizer=True)
    assert loaded.loaded == uri


def test_a_probe_gives_up_after_ten_minutes() -> None:
    time = FakeTime()
    with pytest.raises(CapacityBlockedError):
        patient(MemoryService(Full(99)), time).create(make_job().config)
    assert time.now == 600


def test_a_stop_lets_no_further_probe_begin() -> None:
    stop, service = StopSignal(), MemoryService()
    policy = CapacityPolicy(FakeTime().clock, stop.sleep, lambda: 0)
    asked = PatientService(service, policy, stop)
    asked.create(make_job().config)
    stop.request()
    with pytest.raises(RunInterruptedError):
        asked.create(make_job().config)
    assert len(service.models) == 1


def test_work_that_leaves_nothing_behind_is_done_again_after_a_loss(tmp_path: Path) -> None:
    losses = iter([ModelLostError("410"), SessionClosedError("409"), None])

    def work() -> str:
        error = next(losses)
        if error is not None:
            raise error
        return "scored"

    assert recovered(make_shop(tmp_path, MemoryService()), "arm", work) == "scored"


def test_work_that_is_lost_every_time_is_given_up(tmp_path: Path) -> None:
    def work() -> None:
        raise ModelLostError("410")

    with pytest.raises(ModelLostError):
        recovered(make_shop(tmp_path, MemoryService()), "arm", work)


SERVED = [
    "Qwen/Qwen3.5-4B",
    "Qwen/Qwen3.5-9B",
    "Qwen/Qwen3.5-0.8B",
    "Qwen/Qwen3-1.7B",
    "meta-llama/Llama-3.2-1B",
    "Qwen/Qwen3.5-4B-Base",
    "openai/gpt-oss-20b",
]


@pytest.mark.parametrize(
    ("wanted", "closest"),
    [
        ("Qwen/Qwen3.5-2B", "Qwen/Qwen3.5-4B"),
        ("Qwen/Qwen3.5-2B-Base", "Qwen/Qwen3.5-4B-Base"),
        ("Qwen/Qwen3.5-35B-A3B", "Qwen/Qwen3.5-9B"),
        ("Qwen/Qwen3-4B", "Qwen/Qwen3-1.7B"),
        ("openai/gpt-oss-120b", "openai/gpt-oss-20b"),
        ("meta-llama/Llama-3.1-8B", None),
        ("somebody/unsized", None),
    ],
)
def test_the_closest_model_is_of_the_same_family(wanted: str, closest: str | None) -> None:
    assert closest_served(wanted, SERVED) == closest
