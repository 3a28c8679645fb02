"""The promises of the port, kept by the adapter on the embedded service and by the memory one."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rx_tools.errors import ServiceError
from rx_tools.local.launcher import Running, launch
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    ModelConfig,
    NotOfferedError,
    OptimizerConfig,
    RefusedError,
    TrainingService,
)
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.tinker_service import TinkerService
from tests.runner.memory_service import MemoryService
from tests.runner.workshop import ADAMW, Batches

BATCH = Batches().train_batch(0, 0)
DIMUON = OptimizerConfig("dimuon", {"beta1": 0.9})


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with launch(tmp_path_factory.mktemp("store"), model_names=["tiny"]) as running:
        yield running


@pytest.fixture(params=["embedded", "memory"])
def service(request: pytest.FixtureRequest) -> Iterator[TrainingService]:
    if request.param == "memory":
        made: TrainingService = MemoryService()
    else:
        running: Running = request.getfixturevalue("embedded")
        made = TinkerService(running.base_url, running.api_key, limits=Limits(create=60))
    yield made
    made.close()


def config(seed: int | None = 5, optimizer: OptimizerConfig = ADAMW) -> ModelConfig:
    return ModelConfig("tiny", 4, optimizer, seed=seed)


def scores(model) -> list[np.ndarray]:
    return list(model.forward(BATCH).result().logprobs)


def step(model, rate: float, optimizer: OptimizerConfig = ADAMW):
    gradient = model.forward_backward(BATCH)
    update = model.optim_step(optimizer, rate)
    gradient.result()
    return update.result()


def same(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def test_it_says_what_it_serves_and_who_it_is(service: TrainingService) -> None:
    assert "tiny" in service.capabilities().models
    identity = service.identity()
    assert identity == service.identity()
    assert identity.embedded_revision and len(identity.capabilities_sha256) == 64


@pytest.mark.parametrize("optimizer", [ADAMW, DIMUON])
def test_info_names_the_optimizer_that_was_asked_for(
    service: TrainingService, optimizer: OptimizerConfig
) -> None:
    info = service.create(config(optimizer=optimizer)).info()
    assert info.optimizer["type"] == optimizer.type and info.rank == 4
    assert info.observation["optimizer"]["type"] == optimizer.type
    assert info.observation["step"] == 0


def test_one_seed_is_one_start(service: TrainingService) -> None:
    first, second = service.create(config(seed=3)), service.create(config(seed=3))
    assert same(scores(first), scores(second))
    for model in (first, second):
        step(model, 1e-2)
    assert same(scores(first), scores(second))


def test_scoring_changes_nothing_and_a_step_does(service: TrainingService) -> None:
    model = service.create(config())
    before = scores(model)
    assert same(before, scores(model))
    assert all(array.dtype == np.float32 for array in before)
    assert [len(array) for array in before] == [len(datum.targets) for datum in BATCH]
    result = step(model, 1e-2)
    assert result.successful is True and result.grad_norm > 0
    assert not same(before, scores(model))


def test_a_step_of_rate_zero_leaves_the_weights(service: TrainingService) -> None:
    model = service.create(config())
    before = scores(model)
    step(model, 0.0)
    assert same(before, scores(model))
    assert model.info().observation["step"] == 1


def test_the_last_step_is_observed_with_its_numbers(service: TrainingService) -> None:
    model = service.create(config())
    step(model, 3e-4)
    last = model.info().observation["last"]
    assert last["learning_rate"] == pytest.approx(3e-4, rel=1e-7)
    assert last["beta2"] == pytest.approx(0.95, rel=1e-7)
    assert last["eps"] == pytest.approx(1e-8, rel=1e-7)


def test_operations_run_in_the_order_of_the_calls(service: TrainingService) -> None:
    slow, quick = service.create(config()), service.create(config())
    for _ in range(3):
        step(slow, 1e-2)
    pending = [(quick.forward_backward(BATCH), quick.optim_step(ADAMW, 1e-2)) for _ in range(3)]
    for gradient, update in reversed(pending):
        update.result()
        gradient.result()
    assert same(scores(slow), scores(quick))


def test_asking_twice_gives_the_same_answer(service: TrainingService) -> None:
    pending = service.create(config()).forward(BATCH)
    assert pending.result() is pending.result()


@pytest.mark.parametrize("optimizer", [ADAMW, DIMUON])
def test_a_state_with_optimizer_goes_on_as_if_nothing_had_happened(
    service: TrainingService, optimizer: OptimizerConfig
) -> None:
    model = service.create(config(optimizer=optimizer))
    step(model, 1e-2, optimizer)
    uri = model.save_state("after-one").result()
    restored, loaded = service.create_from_state(config(None, optimizer), uri, with_optimizer=True)
    assert loaded.loaded == uri
    assert restored.info().observation["state_sha256"] == model.info().observation["state_sha256"]
    for one in (model, restored):
        step(one, 1e-2, optimizer)
    assert same(scores(model), scores(restored))


def test_a_state_without_optimizer_starts_cold(service: TrainingService) -> None:
    model = service.create(config())
    step(model, 1e-2)
    uri = model.save_state("warm").result()
    cold, loaded = service.create_from_state(config(None), uri, with_optimizer=False)
    assert loaded.loaded == uri and cold.info().observation["step"] == 0
    assert same(scores(model), scores(cold))
    for one in (model, cold):
        step(one, 1e-2)
    assert not same(scores(model), scores(cold))


def test_loading_into_a_live_model_returns_the_path(service: TrainingService) -> None:
    model = service.create(config())
    before = scores(model)
    uri = model.save_state("start").result()
    step(model, 1e-2)
    assert model.load_state(uri, with_optimizer=True).result().loaded == uri
    assert same(before, scores(model))


def test_a_checkpoint_name_is_used_once(service: TrainingService) -> None:
    model = service.create(config())
    model.save_state("once").result()
    with pytest.raises(RefusedError):
        model.save_state("once").result()
    model.save_state("once", overwrite=True).result()
    step(model, 1e-3)


def test_a_checkpoint_that_is_not_there_is_refused(service: TrainingService) -> None:
    with pytest.raises(ServiceError):
        service.create_from_state(
            config(None), CheckpointUri("tinker://nobody:train:0/weights/none"), with_optimizer=True
        )


@pytest.mark.parametrize(
    "wanted",
    [
        ModelConfig("nobody/serves-this", 4, ADAMW),
        ModelConfig("tiny", 4, OptimizerConfig("sophia", {})),
    ],
)
def test_what_is_not_offered_is_said_at_creation(
    service: TrainingService, wanted: ModelConfig
) -> None:
    with pytest.raises(NotOfferedError):
        service.create(wanted)


def test_exported_weights_are_safetensors(service: TrainingService, tmp_path: Path) -> None:
    files = service.create(config()).download_weights("export", tmp_path)
    assert files["adapter_model.safetensors"].stat().st_size > 1000


def test_a_released_model_answers_nothing(service: TrainingService) -> None:
    model = service.create(config())
    model.release()
    model.release()
    with pytest.raises(ServiceError):
        model.forward(BATCH).result()
