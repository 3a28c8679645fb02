"""What a failing or lying service does to an arm: borne exactly, or stopped before it counts."""

import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rx_tools.evidence.ledger import read_ledger
from rx_tools.local.launcher import Running, launch
from rx_tools.runner.arms.arm import ArmJob, HygieneError
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.events import Event, StepDone
from rx_tools.runner.service import NotOfferedError, OptimizerConfig
from rx_tools.runner.wire.capacity import CapacityBlockedError
from rx_tools.runner.wire.tinker_service import TinkerService
from tests.runner.killing import QUICK, Ending, connect, ending
from tests.runner.workshop import FakeTime, make_job, make_shop

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

DIMUON = make_job(
    config=replace(make_job().config, optimizer=OptimizerConfig("dimuon", {"beta1": 0.9}))
)


def train(
    folder: Path,
    faults: Sequence[str],
    job: ArmJob | None = None,
    look: Callable[[FakeTime], None] = lambda time: None,
    create: float = 60.0,
) -> Ending:
    time = FakeTime()
    with launch(folder / "store", faults=faults, model_names=["tiny"]) as running:
        limits = replace(QUICK, create=create)
        service = TinkerService(running.base_url, running.api_key, limits=limits)
        shop = make_shop(folder, service, time=time)
        try:
            train_arm(job or make_job(), shop)
            return ending(folder, connect(running))
        finally:
            shop.ledger.close()
            service.close()
            look(time)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Ending:
    return train(tmp_path_factory.mktemp("undisturbed"), [])


@pytest.mark.parametrize(
    ("faults", "restores"),
    [
        (["model-lost-after:6"], 1),
        (["idle-evict:14"], 1),
        (["http-429:2", "http-503:2", "finish-404", "slow:20"], 0),
    ],
)
def test_a_failing_service_changes_nothing_in_the_result(
    tmp_path: Path, undisturbed: Ending, faults: list[str], restores: int
) -> None:
    assert train(tmp_path, faults) == replace(undisturbed, restores=restores)


def test_a_service_that_shows_nothing_of_its_state_is_trained_on_all_the_same(
    tmp_path: Path,
) -> None:
    with pytest.raises(NotOfferedError):
        train(tmp_path, ["no-observation", "no-external-weights", "model-lost-after:6"])
    assert [update["step"] for update in updates(tmp_path)][-6:] == [4, 5, 6, 7, 8, 9]
    saved = read_ledger(tmp_path / "ledger.jsonl").lines
    assert [line.data["step"] for line in saved if line.event == "checkpoint_saved"] == [4, 8, 10]


def updates(folder: Path) -> list[dict]:
    lines = read_ledger(folder / "ledger.jsonl").lines
    return [line.data for line in lines if line.event == "update_acknowledged"]


def test_a_full_trainer_is_waited_for(tmp_path: Path, undisturbed: Ending) -> None:
    sleeps: list[float] = []
    came_out = train(tmp_path, ["capacity:2"], look=lambda time: sleeps.extend(time.sleeps))
    assert came_out == undisturbed and sleeps == [60, 120]


def test_a_trainer_that_stays_full_ends_after_the_policy(tmp_path: Path) -> None:
    with pytest.raises(CapacityBlockedError) as raised:
        train(tmp_path, ["capacity:99"])
    assert raised.value.block(released_clients=True)["comparison_steps_completed"] == 0
    assert updates(tmp_path) == []


def test_a_creation_that_stays_pending_ends_after_the_policy(tmp_path: Path) -> None:
    with pytest.raises(CapacityBlockedError, match="still pending"):
        train(tmp_path, ["capacity-forever"], create=1.0)


def test_a_gradient_that_is_no_number_stops_the_arm_at_its_step(tmp_path: Path) -> None:
    with pytest.raises(HygieneError, match="step 4"):
        train(tmp_path, ["nan-grad:5"])
    assert [update["step"] for update in updates(tmp_path)] == [0, 1, 2, 3]


def test_a_dropped_optimizer_is_seen_before_the_first_update(tmp_path: Path) -> None:
    with pytest.raises(HygieneError, match="'adamw', not 'dimuon'"):
        train(tmp_path, ["drop-optimizer"], DIMUON)
    assert updates(tmp_path) == []


def delete(running: Running, uri: str) -> None:
    run, _, name = uri.removeprefix("tinker://").partition("/")
    request = urllib.request.Request(
        f"{running.base_url}/api/v1/training_runs/{run}/checkpoints/{name}",
        headers={"x-api-key": running.api_key},
        method="DELETE",
    )
    urllib.request.urlopen(request, timeout=10).close()


def test_an_arm_whose_newest_checkpoint_was_deleted_goes_back_to_the_one_before(
    tmp_path: Path, undisturbed: Ending
) -> None:
    def lose(event: Event) -> None:
        if isinstance(event, StepDone) and event.step == 8:
            saved = [line.data for line in shop.ledger.lines if line.event == "checkpoint_saved"]
            delete(running, saved[-1]["uri"])

    with launch(tmp_path / "store", faults=["model-lost-after:9"], model_names=["tiny"]) as running:
        service = connect(running)
        shop = make_shop(tmp_path, service, time=FakeTime(), tell=lose)
        train_arm(make_job(), shop)
        shop.ledger.close()
        assert ending(tmp_path, service) == replace(undisturbed, restores=1)
        service.close()
    lines = read_ledger(tmp_path / "ledger.jsonl").lines
    (restored,) = [line.data for line in lines if line.event == "arm_restored"]
    assert restored["step"] == 4
    assert [uri.rpartition("-")[2] for uri in restored["refused"]] == ["s8"]


@pytest.mark.parametrize(
    ("fault", "job", "message"),
    [
        ("cold-restore", make_job(), "made 0 updates where 4"),
        ("adamw-on-restore", DIMUON, "'adamw', not 'dimuon'"),
    ],
)
def test_a_restore_that_comes_back_wrong_stops_before_the_next_update(
    tmp_path: Path, fault: str, job: ArmJob, message: str
) -> None:
    with pytest.raises(HygieneError, match=message):
        train(tmp_path, [fault, "model-lost-after:6"], job)
    lines = read_ledger(tmp_path / "ledger.jsonl").lines
    assert [line.event for line in lines][-2:] == ["arm_restored", "arm_stopped"]
