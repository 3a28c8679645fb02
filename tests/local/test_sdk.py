"""The real SDK over real HTTP: what a training loop relies on."""

import json
import urllib.request

import numpy as np
import pytest
from tinker import RequestFailedError, types
from tinker.types.optimizer import OptimizerConfigBase

from .conftest import MODEL, datums, logprobs

ADAM = types.AdamParams(learning_rate=3e-3, eps=1e-8)
DIMUON = types.DimuonParams(learning_rate=1e-2)
BOTH = pytest.mark.parametrize(
    ("config", "step"), [(None, ADAM), (types.DimuonOptimizerConfig(), DIMUON)]
)


def create(client, config=None, seed=3, rank=32):
    return client.create_lora_training_client(
        base_model=MODEL, rank=rank, seed=seed, optimizer=config
    ).result(timeout=30)


def train(model, batch, step):
    """One step, submitted back to back; the loss before it and the step's metrics."""
    scored = model.forward_backward(batch, "cross_entropy")
    stepped = model.optim_step(step)
    return scored.result(timeout=30).metrics["loss:sum"], stepped.result(timeout=30).metrics


def get(running, path: str) -> bytes:
    request = urllib.request.Request(
        running.base_url + path, headers={"x-api-key": running.api_key}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.read()


@BOTH
def test_training_lowers_the_loss_and_reports_each_update(client, config, step):
    model, batch = create(client, config), datums(1, [9, 30, 17, 22, 5, 40])
    history = [train(model, batch, step) for _ in range(6)]
    assert history[-1][0] < history[0][0]
    assert all(metrics["update_successful:mean"] == 1 for _, metrics in history)
    assert all(metrics["grad_norm:mean"] > 0 for _, metrics in history)


@BOTH
def test_a_restored_model_goes_on_bit_for_bit(client, config, step):
    model, batch = create(client, config), datums(2, [12, 25, 33])
    for _ in range(3):
        train(model, batch, step)
    path = model.save_state("three").result(timeout=30).path
    restored = client.create_training_client_from_state_with_optimizer(path).result(timeout=30)
    for each in (model, restored):
        train(each, batch, step)
    left, right = (
        logprobs(each.forward(batch, "cross_entropy").result(timeout=30))
        for each in (model, restored)
    )
    assert np.array_equal(left, right)
    assert restored.get_info().optimizer_config.type == (config.type if config else "adamw")


def test_the_echo_names_rank_and_optimizer(client):
    info = create(client, types.DimuonOptimizerConfig(), rank=8).get_info()
    assert (info.optimizer_config.type, info.lora_rank, info.is_lora) == ("dimuon", 8, True)
    assert info.model_data.model_name == MODEL


def test_one_seed_gives_one_start_and_none_gives_another(client):
    batch = datums(3, [20])
    starts = []
    for seed in (5, 5, 6, None, None):
        model = create(client, seed=seed)
        train(model, batch, ADAM)
        starts.append(logprobs(model.forward(batch, "cross_entropy").result(timeout=30)))
    assert np.array_equal(starts[0], starts[1])
    assert len({each.tobytes() for each in starts}) == 4


def test_chunks_of_one_call_add_up_to_the_whole(client):
    """Eleven datums in chunks of four: the loss is the sum of the parts."""
    model, batch = create(client), datums(4, list(range(10, 21)))
    whole = model.forward(batch, "cross_entropy").result(timeout=30).metrics["loss:sum"]
    parts = [
        model.forward([each], "cross_entropy").result(timeout=30).metrics["loss:sum"]
        for each in batch
    ]
    assert whole == pytest.approx(sum(parts), rel=1e-5)


def test_a_second_save_to_one_name_is_refused_and_the_model_lives_on(client):
    model = create(client)
    model.save_state("once").result(timeout=30)
    with pytest.raises(RequestFailedError, match="already exists"):
        model.save_state("once").result(timeout=30)
    assert model.save_state("twice").result(timeout=30).path.endswith("/weights/twice")


def test_weights_alone_may_be_loaded_under_any_optimizer(client):
    model, batch = create(client), datums(8, [11, 14])
    train(model, batch, ADAM)
    path = model.save_state("one").result(timeout=30).path
    for config, kind in ((None, "adamw"), (types.DimuonOptimizerConfig(), "dimuon")):
        other = client.create_training_client_from_state(path, optimizer=config).result(timeout=30)
        assert other.get_info().optimizer_config.type == kind
        assert np.array_equal(*(
            logprobs(each.forward(batch, "cross_entropy").result(timeout=30))
            for each in (model, other)
        ))  # fmt: skip


def test_the_response_to_a_load_names_what_was_loaded(client):
    model, other = create(client), create(client)
    path = model.save_state("one").result(timeout=30).path
    with pytest.warns(FutureWarning):
        assert other.load_state_with_optimizer(path).result(timeout=30).path == path


def test_unknown_optimizers_and_models_fail_in_the_future(client):
    with pytest.raises(RequestFailedError, match="unknown optimizer 'sgd'"):
        create(client, OptimizerConfigBase(type="sgd"))
    with pytest.raises(RequestFailedError, match="not served"):
        client.create_lora_training_client(base_model="other/model").result(timeout=30)


def test_parameters_of_another_optimizer_are_refused(client):
    model, batch = create(client), datums(5, [8])
    with pytest.raises(RequestFailedError, match="parameters of dimuon"):
        train(model, batch, DIMUON)
    assert train(model, batch, ADAM)[1]["update_successful:mean"] == 1


def test_exported_weights_hold_adapter_config_and_optimizer(client, running):
    model = create(client)
    train(model, datums(6, [10]), ADAM)
    path = model.save_weights_external("out").result(timeout=30).path
    run, _, name = path.removeprefix("tinker://").split("/")
    listing = f"/api/v1/training_runs/{run}/checkpoints/external_weights/{name}"
    urls = json.loads(get(running, f"{listing}/external_weights_urls"))["urls"]
    assert set(urls) == {
        "adapter_model.safetensors", "adapter_config.json", "optimizer.safetensors",
    }  # fmt: skip
    from safetensors.numpy import load

    tensors = load(urllib.request.urlopen(urls["adapter_model.safetensors"], timeout=10).read())
    assert len(tensors) == 30
    assert tensors["base_model.model.lm_head.lora_B.weight"].shape == (2048, 32)


def test_the_observation_shows_the_concrete_optimizer(client, running):
    model = create(client, types.DimuonOptimizerConfig())
    train(model, datums(7, [10]), DIMUON)
    seen = json.loads(get(running, f"/api/v1/rx/observe?model_id={model.model_id}"))
    assert seen["optimizer"] == {"type": "dimuon", "version": 1}
    assert seen["step"] == 1
    assert seen["last"] == {"learning_rate": 0.01, "beta1": 0.9, "grad_clip_norm": 0.0}
    assert len(seen["state_sha256"]) == 64
