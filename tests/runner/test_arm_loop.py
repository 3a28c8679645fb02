"""One arm, exactly once: whatever breaks on the way, the same weights come out."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rx_tools.errors import IntegrityError, RunInterruptedError, UsageError
from rx_tools.evidence.ledger import read_ledger
from rx_tools.model.names import ArmName
from rx_tools.runner.arms.arm import HygieneError
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.arms.events import StepDone
from rx_tools.runner.arms.resume import arm_history, known_batches
from rx_tools.runner.data.order import batch_digest
from rx_tools.runner.service import (
    CapacityError,
    ModelLostError,
    RefusedError,
    SessionClosedError,
    StepResult,
    UnreachableError,
)
from tests.runner.memory_service import Done, MemoryModel, MemoryService
from tests.runner.workshop import FakeTime, make_job, make_shop


def events(folder: Path, event: str) -> list[dict]:
    return [line.data for line in read_ledger(folder / "ledger.jsonl").lines if line.event == event]


def final_table(service: MemoryService, uri: str) -> np.ndarray:
    return service.checkpoints[uri].table


@pytest.fixture
def undisturbed(tmp_path_factory) -> np.ndarray:
    service = MemoryService()
    outcome = train_arm(make_job(), make_shop(tmp_path_factory.mktemp("undisturbed"), service))
    return final_table(service, outcome.uri)


class Breaks:
    """Raises `error` at the given counts of `operation`."""

    def __init__(self, error: Exception, at: set[int], operation: str = "optim_step") -> None:
        self.error, self.at, self.operation, self.count = error, at, operation, 0

    def __call__(self, operation: str, model: MemoryModel) -> None:
        if operation != self.operation:
            return
        self.count += 1
        if self.count in self.at:
            model.alive = False
            raise self.error


def test_every_planned_step_is_acknowledged_with_its_rate_and_batch(tmp_path: Path) -> None:
    seen: list[StepDone] = []
    shop = make_shop(tmp_path, MemoryService(), tell=lambda e: seen.append(e))
    outcome = train_arm(make_job(), shop)
    updates = events(tmp_path, "update_acknowledged")
    assert [update["step"] for update in updates] == list(range(10))
    assert updates[9]["learning_rate"] == pytest.approx(1e-2 / 10, rel=1e-15)
    assert updates[3]["batch_sha256"] == batch_digest(shop.batches.train_batch(7, 3))
    assert [point["step"] for point in events(tmp_path, "checkpoint_saved")] == [4, 8, 10]
    assert outcome.steps == 10 and outcome.restores == 0
    assert sum(isinstance(event, StepDone) for event in seen) == 10


def test_the_training_loss_is_the_token_mean_over_the_mask(tmp_path: Path) -> None:
    service = MemoryService()
    shop = make_shop(tmp_path, service)
    train_arm(make_job(steps=1), shop)
    batch = shop.batches.train_batch(7, 0)
    table = MemoryService().create(make_job().config).state.table
    log_chances = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
    counted = [
        -log_chances[token, target]
        for datum in batch
        for token, target, weight in zip(datum.tokens, datum.targets, datum.weights, strict=True)
        if weight > 0
    ]
    assert events(tmp_path, "update_acknowledged")[0]["train_nll"] == pytest.approx(
        np.mean(counted), rel=1e-6
    )


def test_metrics_have_one_row_per_step_and_their_digest_is_in_the_ledger(tmp_path: Path) -> None:
    outcome = train_arm(make_job(), make_shop(tmp_path, MemoryService()))
    text = (tmp_path / "evidence" / "metrics-adamw-s0.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["step"] for row in rows] == list(range(10))
    assert {"train_nll", "learning_rate", "batch_sha256", "tokens", "grad_norm"} <= set(rows[0])
    finished = read_ledger(tmp_path / "ledger.jsonl").lines[-1]
    assert finished.event == "arm_finished" and finished.files == outcome.files


@pytest.mark.parametrize("broken_at", range(1, 11))
@pytest.mark.parametrize("error", [ModelLostError("410"), SessionClosedError("409")])
def test_a_lost_model_costs_nothing_but_the_updates_since_the_checkpoint(
    tmp_path: Path, undisturbed: np.ndarray, error: Exception, broken_at: int
) -> None:
    service = MemoryService(Breaks(error, {broken_at}))
    outcome = train_arm(make_job(), make_shop(tmp_path, service))
    assert np.array_equal(final_table(service, outcome.uri), undisturbed)
    history = arm_history(read_ledger(tmp_path / "ledger.jsonl").lines, ArmName("adamw-s0"))
    assert [row["step"] for row in history.rows] == list(range(10))
    restored = events(tmp_path, "arm_restored")
    assert [entry["restore"] for entry in restored] == list(range(1, len(restored) + 1))
    assert {check["after_restore"] for check in events(tmp_path, "optimizer_checked")} == {0}
    assert all(entry["optimizer"]["actual"]["type"] == "adamw" for entry in restored)


@pytest.mark.parametrize(("lost", "step"), [({8}, 4), ({4, 8}, 0)])
def test_a_checkpoint_that_the_service_lost_costs_the_updates_since_the_one_before(
    tmp_path: Path, undisturbed: np.ndarray, lost: set[int], step: int
) -> None:
    breaks = Breaks(ModelLostError("410"), {10})

    def lose(operation: str, model: MemoryModel) -> None:
        if operation == "optim_step" and breaks.count == 9:
            for uri in [f"memory://m0/run1-adamw-s0-r0-s{point}" for point in lost]:
                del service.checkpoints[uri]
        breaks(operation, model)

    service = MemoryService(lose)
    outcome = train_arm(make_job(), make_shop(tmp_path, service))
    assert np.array_equal(final_table(service, outcome.uri), undisturbed)
    (restored,) = events(tmp_path, "arm_restored")
    assert restored["step"] == step
    assert sorted(int(uri.rpartition("-s")[2]) for uri in restored["refused"]) == sorted(lost)


@pytest.mark.parametrize("broken_at", [1, 3, 7])
def test_an_arm_that_loads_its_start_goes_back_to_it(
    tmp_path: Path, undisturbed: np.ndarray, broken_at: int
) -> None:
    service = MemoryService(Breaks(ModelLostError("410"), {broken_at}))
    start = service.create(make_job().config).save_state("init").result()
    unseeded = replace(make_job().config, seed=None)
    job = make_job(config=unseeded, initial=start)
    outcome = train_arm(job, make_shop(tmp_path, service))
    assert np.array_equal(final_table(service, outcome.uri), undisturbed)
    restored = events(tmp_path, "arm_restored")
    if broken_at <= 4:
        assert [(entry["uri"], entry["step"]) for entry in restored] in ([], [(start, 0)])


def test_a_start_that_another_checkpoint_answers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = MemoryService()
    model = service.create(make_job().config)
    first, second = (model.save_state(name).result() for name in ("first", "second"))
    load = MemoryService.create_from_state

    def other(self: MemoryService, config, uri, *, with_optimizer: bool):
        return load(self, config, second, with_optimizer=with_optimizer)

    monkeypatch.setattr(MemoryService, "create_from_state", other)
    with pytest.raises(HygieneError, match="the server loaded"):
        train_arm(make_job(initial=first), make_shop(tmp_path, service))
    assert events(tmp_path, "update_acknowledged") == []


def test_a_service_that_comes_back_is_waited_for(tmp_path: Path, undisturbed: np.ndarray) -> None:
    time = FakeTime()
    service = MemoryService(Breaks(UnreachableError("nobody answers"), {1, 2, 3}, "create"))
    outcome = train_arm(make_job(), make_shop(tmp_path, service, time=time))
    assert np.array_equal(final_table(service, outcome.uri), undisturbed)
    assert time.sleeps == [1.0, 2.0, 4.0]


def test_a_service_that_stays_away_ends_the_arm_within_minutes(tmp_path: Path) -> None:
    time = FakeTime()
    service = MemoryService(Breaks(UnreachableError("nobody answers"), set(range(99)), "create"))
    with pytest.raises(UnreachableError):
        train_arm(make_job(), make_shop(tmp_path, service, time=time))
    assert sum(time.sleeps) <= 120
    assert events(tmp_path, "arm_stopped")[0]["kind"] == "UnreachableError"


def test_a_full_service_is_borne_and_the_arm_goes_on(
    tmp_path: Path, undisturbed: np.ndarray
) -> None:
    time = FakeTime()
    service = MemoryService(Breaks(CapacityError("429"), {1, 2, 5}, "create"))
    outcome = train_arm(make_job(), make_shop(tmp_path, service, time=time))
    assert np.array_equal(final_table(service, outcome.uri), undisturbed)
    assert time.sleeps == [60.0, 120.0]


def test_interrupted_and_resumed_the_weights_are_the_same_bit_for_bit(
    tmp_path: Path, undisturbed: np.ndarray
) -> None:
    service = MemoryService()
    shop = make_shop(tmp_path, service)

    def stop_after_three(event: object) -> None:
        if isinstance(event, StepDone) and event.step == 2:
            shop.stop.request()

    with pytest.raises(RunInterruptedError, match="saved"):
        train_arm(make_job(), replace(shop, tell=stop_after_three))
    shop.ledger.close()
    again = make_shop(tmp_path, service)
    outcome = train_arm(make_job(), again, resume=True)
    assert np.array_equal(final_table(service, outcome.uri), undisturbed)
    assert events(tmp_path, "arm_restored")[0]["discarded"] == 0


def test_a_done_arm_is_not_trained_twice_and_a_started_one_asks_for_resume(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService(Breaks(RefusedError("no"), {2})))
    with pytest.raises(RefusedError):
        train_arm(make_job(), shop)
    with pytest.raises(UsageError, match="--resume"):
        train_arm(make_job(), shop)
    train_arm(make_job(), shop, resume=True)
    with pytest.raises(UsageError, match="is done"):
        train_arm(make_job(), shop, resume=True)


@pytest.mark.parametrize(
    "answer",
    [
        StepResult(False, 1.0, {"update_successful:mean": 0.0}),
        StepResult(True, float("nan"), {}),
        StepResult(None, float("inf"), {}),
    ],
)
def test_a_skipped_or_infinite_update_stops_the_arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: StepResult
) -> None:
    monkeypatch.setattr(MemoryModel, "optim_step", lambda *_: Done(answer))
    with pytest.raises(HygieneError, match="step 0"):
        train_arm(make_job(), make_shop(tmp_path, MemoryService()))
    assert events(tmp_path, "update_acknowledged") == []
    assert events(tmp_path, "arm_stopped")[0]["kind"] == "HygieneError"


def test_a_logprob_that_is_no_number_stops_the_arm(tmp_path: Path) -> None:
    def poison(operation: str, model: MemoryModel) -> None:
        if operation == "forward_backward" and model.state.step == 2:
            model.state.table[:] = np.nan

    with pytest.raises(HygieneError, match="step 2"):
        train_arm(make_job(), make_shop(tmp_path, MemoryService(poison)))
    assert len(events(tmp_path, "update_acknowledged")) == 2


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -1e-4])
def test_a_learning_rate_that_is_none_is_never_sent(tmp_path: Path, rate: float) -> None:
    job = make_job(learning_rate=lambda step: rate if step == 1 else 1e-2)
    with pytest.raises(HygieneError, match="step 1: the learning rate"):
        train_arm(job, make_shop(tmp_path, MemoryService()))


def test_paired_arms_must_see_the_same_batches(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())
    train_arm(make_job("adamw-s7"), shop)

    class Other:
        def train_batch(self, seed: int, step: int):
            return shop.batches.train_batch(seed, step + (step == 6))

    with pytest.raises(HygieneError, match="batch 6 of seed 7"):
        train_arm(make_job("dimuon-s7"), replace(shop, batches=Other()))


def test_batches_of_an_earlier_process_are_remembered(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())
    train_arm(make_job(), shop)
    assert known_batches(shop.ledger.lines)[(7, 9)] == batch_digest(shop.batches.train_batch(7, 9))


def test_a_service_that_swaps_the_optimizer_is_stopped_before_the_first_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = MemoryService.create

    def swapped(self: MemoryService, config):
        return create(self, make_job().config)

    monkeypatch.setattr(MemoryService, "create", swapped)
    dimuon = make_job().config
    dimuon = type(dimuon)("tiny", 4, type(dimuon.optimizer)("dimuon", {"beta1": 0.9}), seed=7)
    with pytest.raises(HygieneError, match="'adamw', not 'dimuon'"):
        train_arm(make_job(config=dimuon), make_shop(tmp_path, MemoryService()))
    assert events(tmp_path, "update_acknowledged") == []


def test_a_cold_restore_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = MemoryService(Breaks(ModelLostError("410"), {6}))
    warm = MemoryService.create_from_state

    def cold(self: MemoryService, config, uri, *, with_optimizer: bool):
        return warm(self, config, uri, with_optimizer=False)

    monkeypatch.setattr(MemoryService, "create_from_state", cold)
    with pytest.raises(HygieneError, match="made 0 updates where 4"):
        train_arm(make_job(), make_shop(tmp_path, service))


def test_a_ledger_with_a_missing_update_is_refused(tmp_path: Path) -> None:
    shop = make_shop(tmp_path, MemoryService())
    shop.note("update_acknowledged", {"arm": "adamw-s0", "step": 1})
    with pytest.raises(IntegrityError, match="step 1 where 0 was due"):
        train_arm(make_job(), shop)
