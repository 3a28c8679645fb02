"""Each fault as the SDK sees it."""

import json
import time
import urllib.request
from contextlib import contextmanager
from urllib.error import HTTPError

import numpy as np
import pytest
import tinker
from safetensors.numpy import load
from tinker import RequestFailedError, types

from rx_tools.errors import UsageError
from rx_tools.local.choosing import choose
from rx_tools.local.fault_catalogue import CATALOGUE, described
from rx_tools.local.faults import ALL
from rx_tools.local.launcher import launch

from .conftest import MODEL, datums, logprobs

ADAM = types.AdamParams(learning_rate=1e-2, eps=1e-8)
DIMUON = types.DimuonParams(learning_rate=1e-2)
BATCH = datums(1, [12, 20, 15])


@contextmanager
def faulty(store, *faults, like=None):
    with launch(store, faults=faults, like=like, model_names=[MODEL], log=store / "log") as running:
        client = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
        yield running, client
        if running.process.poll() is None:
            client.close("success")


def create(client, config=None, seed=None):
    return client.create_lora_training_client(
        base_model=MODEL, rank=4, seed=seed, optimizer=config
    ).result(timeout=30)


def train(model, step=ADAM, batch=BATCH):
    model.forward_backward(batch, "cross_entropy").result(timeout=30)
    return model.optim_step(step).result(timeout=30).metrics


def scores(model) -> np.ndarray:
    return logprobs(model.forward(BATCH, "cross_entropy").result(timeout=30))


def observed(running, model):
    request = urllib.request.Request(
        f"{running.base_url}/api/v1/rx/observe?model_id={model.model_id}",
        headers={"x-api-key": running.api_key},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())


def exported(running, model, name):
    path = model.save_weights_external(name).result(timeout=30).path
    run, _, name = path.removeprefix("tinker://").split("/")
    request = urllib.request.Request(
        f"{running.base_url}/api/v1/training_runs/{run}/checkpoints/external_weights/{name}"
        "/external_weights_urls",
        headers={"x-api-key": running.api_key},
    )
    urls = json.loads(urllib.request.urlopen(request, timeout=10).read())["urls"]
    return load(urllib.request.urlopen(urls["adapter_model.safetensors"], timeout=10).read())


def test_seed_refused(tmp_path):
    with faulty(tmp_path, "seed-refused") as (_, client):
        with pytest.raises(RequestFailedError, match="seed") as caught:
            create(client, seed=1)
        assert caught.value.category.value == "user"
        assert train(create(client))["update_successful:mean"] == 1


def test_drop_optimizer_runs_adamw_at_its_default_rate_behind_a_dimuon_request(tmp_path):
    with faulty(tmp_path, "drop-optimizer") as (running, client):
        model = create(client, types.DimuonOptimizerConfig(), seed=1)
        assert model.get_info().optimizer_config.type == "adamw"
        before = scores(model)
        train(model, types.DimuonParams(learning_rate=0.0))
        assert not np.array_equal(scores(model), before)
        told = observed(running, model)
        assert (told["optimizer"]["type"], told["last"]["learning_rate"]) == ("adamw", 1e-4)


def test_an_ignored_rate_moves_the_weights_all_the_same(tmp_path):
    with faulty(tmp_path, "rate-ignored") as (_, client):
        model = create(client)
        before = scores(model)
        train(model, types.AdamParams(learning_rate=0.0))
        assert not np.array_equal(scores(model), before)


@pytest.mark.parametrize(("fault", "kind", "step"), [
    ("cold-restore", "dimuon", 0), ("adamw-on-restore", "adamw", 0),
])  # fmt: skip
def test_restores_that_lose_the_optimizer(tmp_path, fault, kind, step):
    with faulty(tmp_path, fault) as (running, client):
        model = create(client, types.DimuonOptimizerConfig())
        train(model, DIMUON)
        path = model.save_state("one").result(timeout=30).path
        restored = client.create_training_client_from_state_with_optimizer(path).result(timeout=30)
        assert np.array_equal(scores(restored), scores(model))
        told = observed(running, restored)
        assert (told["optimizer"]["type"], told["step"]) == (kind, step)
        other = datums(2, [30, 9])
        for each in (model, restored):
            train(each, DIMUON, other)
        assert not np.array_equal(scores(restored), scores(model))


def test_no_external_weights_answers_404_and_stalls_what_follows(tmp_path):
    with faulty(tmp_path, "no-external-weights") as (_, client):
        model = create(client)
        with pytest.raises(tinker.NotFoundError):
            model.save_weights_external("out").result(timeout=30)
        with pytest.raises(TimeoutError):
            model.forward(BATCH, "cross_entropy").result(timeout=1)
        assert train(create(client))["update_successful:mean"] == 1


def test_capacity_fails_the_first_creations_only(tmp_path):
    with faulty(tmp_path, "capacity:2") as (_, client):
        for _ in range(2):
            with pytest.raises(RequestFailedError, match="trainer capacity exhausted") as caught:
                create(client)
            assert caught.value.category.value == "server"
        assert train(create(client))["update_successful:mean"] == 1


def test_capacity_forever_stays_pending(tmp_path):
    with faulty(tmp_path, "capacity-forever") as (_, client), pytest.raises(TimeoutError):
        client.create_lora_training_client(base_model=MODEL).result(timeout=1)


@pytest.mark.parametrize("fault", ["http-429:2", "http-503:2"])
def test_passing_refusals_are_ridden_out_by_the_sdk(tmp_path, fault):
    with faulty(tmp_path, fault) as (_, client):
        assert train(create(client))["update_successful:mean"] == 1


def test_a_lost_model_answers_410_and_its_checkpoint_still_loads(tmp_path):
    with faulty(tmp_path, "model-lost-after:2") as (_, client):
        model = create(client)
        train(model)
        path = model.save_state("one").result(timeout=30).path
        train(model)
        with pytest.raises(tinker.APIStatusError) as caught:
            model.forward(BATCH, "cross_entropy").result(timeout=30)
        assert caught.value.status_code == 410
        assert "model_lost" in str(caught.value)
        restored = client.create_training_client_from_state_with_optimizer(path).result(timeout=30)
        assert train(restored)["update_successful:mean"] == 1


def test_an_evicted_session_answers_409(tmp_path):
    with faulty(tmp_path, "idle-evict:2") as (running, client):
        model = create(client)
        train(model)
        request = urllib.request.Request(
            f"{running.base_url}/api/v1/optim_step", method="POST",
            headers={"x-api-key": running.api_key},
            data=json.dumps({"model_id": model.model_id, "seq_id": 3, "adam_params": {}}).encode(),
        )  # fmt: skip
        with pytest.raises(HTTPError) as caught:
            urllib.request.urlopen(request, timeout=10)
        assert caught.value.code == 409
        fresh = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
        assert train(create(fresh))["update_successful:mean"] == 1


def test_a_gradient_that_is_not_finite_skips_the_step_and_says_so(tmp_path):
    with faulty(tmp_path, "nan-grad:2") as (_, client):
        model = create(client)
        assert train(model)["update_successful:mean"] == 1
        before = scores(model)
        assert train(model) == {"update_successful:mean": 0}
        assert np.array_equal(scores(model), before)
        assert train(model)["update_successful:mean"] == 1


def test_slow_adds_latency_to_every_answer(tmp_path):
    with faulty(tmp_path, "slow:150") as (running, _):
        begin = time.monotonic()
        urllib.request.urlopen(f"{running.base_url}/api/v1/healthz", timeout=10)
        assert time.monotonic() - begin >= 0.15


def test_corrupt_weights_differ_from_one_export_to_the_next(tmp_path):
    with faulty(tmp_path, "corrupt-weights") as (running, client):
        model = create(client)
        first, second = exported(running, model, "a"), exported(running, model, "b")
        differing = sum(int((first[name] != second[name]).sum()) for name in first)
        assert differing == 2


def test_drift_is_noise_of_the_given_size_on_every_forward(tmp_path):
    with faulty(tmp_path, "drift:0.001") as (_, client):
        model = create(client)
        noise = scores(model) - scores(model)
        assert 0.0005 < noise.std() < 0.003


def test_finish_404_leaves_the_client_unharmed(tmp_path):
    with faulty(tmp_path, "finish-404") as (_, client):
        create(client)
        client.close("success")


def test_kill_after_ends_the_process_and_keeps_what_was_saved(tmp_path):
    with faulty(tmp_path, "kill-after:2") as (running, client):
        model = create(client, seed=4)
        train(model)
        path = model.save_state("one").result(timeout=30).path
        model.forward_backward(BATCH, "cross_entropy").result(timeout=30)
        model.optim_step(ADAM)
        assert running.process.wait(timeout=30) == -9
    with faulty(tmp_path) as (_, client):
        restored = client.create_training_client_from_state_with_optimizer(path).result(timeout=30)
        assert train(restored)["update_successful:mean"] == 1


def test_like_stock_hides_observation_weights_and_seeds(tmp_path):
    with faulty(tmp_path, like="stock") as (running, client):
        with pytest.raises(RequestFailedError, match="seed"):
            create(client, seed=1)
        model = create(client)
        with pytest.raises(HTTPError, match="404"):
            observed(running, model)
        with pytest.raises(tinker.NotFoundError):
            model.save_weights_external("out").result(timeout=30)


def test_faults_compose(tmp_path):
    with faulty(tmp_path, "capacity:1", "nan-grad:1", "finish-404") as (_, client):
        with pytest.raises(RequestFailedError, match="capacity"):
            create(client)
        assert train(create(client)) == {"update_successful:mean": 0}


@pytest.mark.parametrize(
    "word", ["no-such", "capacity:x", "capacity:-1", "seed-refused:1", "slow:nan"]
)
def test_unknown_faults_and_arguments_are_refused(word):
    with pytest.raises(UsageError, match=word.split(":")[0]):
        choose([word])


def test_every_fault_is_in_the_catalogue_and_every_entry_is_a_fault():
    assert [kind.name for kind in ALL] == list(CATALOGUE)
    assert all(f"\n{name}" in f"\n{described()}" for name in CATALOGUE)
