"""Checkpoints and runs: listed, described, kept, deleted, downloaded by the SDK's own command."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tinker
from tinker import types
from tinker.cli import __main__ as tinker_cli

from .conftest import MODEL, datums

STEP = types.AdamParams(learning_rate=1e-3)


@pytest.fixture
def rest(running, monkeypatch):
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    return tinker.RestClient()


@pytest.fixture
def model(client):
    made = client.create_lora_training_client(
        base_model=MODEL, rank=8, train_mlp=False, optimizer=types.DimuonOptimizerConfig(),
        user_metadata={"arm": "a"},
    ).result(timeout=30)  # fmt: skip
    made.forward_backward(datums(1, [9]), "cross_entropy")
    made.optim_step(types.DimuonParams(learning_rate=1e-3)).result(timeout=30)
    return made


def names(checkpoints) -> list[str]:
    return [each.checkpoint_id for each in checkpoints]


def test_a_run_tells_what_it_is_and_what_it_saved(rest, model):
    model.save_state("one").result(timeout=30)
    model.save_weights_for_sampler("two").result(timeout=30)
    run = rest.get_training_run(model.model_id).result(timeout=30)
    assert (run.base_model, run.lora_rank, run.user_metadata) == (MODEL, 8, {"arm": "a"})
    assert run.last_checkpoint.checkpoint_id == "weights/one"
    assert run.last_sampler_checkpoint.checkpoint_id == "sampler_weights/two"
    listed = rest.list_checkpoints(model.model_id).result(timeout=30).checkpoints
    assert names(listed) == ["weights/one", "sampler_weights/two"]
    assert [each.checkpoint_type for each in listed] == ["training", "sampler"]
    assert listed[0].size_bytes > listed[1].size_bytes > 0


def test_weights_info_tells_rank_flags_and_optimizer(rest, model):
    path = model.save_state("one").result(timeout=30).path
    info = rest.get_weights_info_by_tinker_path(path).result(timeout=30)
    assert (info.base_model, info.lora_rank, info.optimizer_config.type) == (MODEL, 8, "dimuon")
    assert (info.train_attn, info.train_mlp, info.train_unembed) == (True, False, True)


def test_runs_come_a_page_at_a_time_the_newest_first(rest, client):
    made = [
        client.create_lora_training_client(base_model=MODEL, rank=1).result(timeout=30).model_id
        for _ in range(3)
    ]
    page = rest.list_training_runs(limit=2).result(timeout=30)
    assert [run.training_run_id for run in page.training_runs] == [made[2], made[1]]
    rest_of_them = rest.list_training_runs(limit=1, offset=2).result(timeout=30)
    assert rest_of_them.training_runs[0].training_run_id == made[0]
    assert page.cursor.total_count == rest_of_them.cursor.total_count >= 3


def test_a_deleted_checkpoint_is_gone_and_its_name_free(rest, client, model):
    path = model.save_state("one").result(timeout=30).path
    rest.delete_checkpoint_from_tinker_path(path).result(timeout=30)
    with pytest.raises(tinker.RequestFailedError, match="does not exist"):
        client.create_training_client_from_state(path).result(timeout=30)
    assert model.save_state("one").result(timeout=30).path == path


def test_a_checkpoint_expires_after_its_time_and_not_before(rest, model):
    path = model.save_state("brief", ttl_seconds=3600).result(timeout=30).path
    assert rest.list_checkpoints(model.model_id).result(30).checkpoints[0].expires_at is not None
    rest.set_checkpoint_ttl_from_tinker_path(path, 1).result(timeout=30)
    time.sleep(1.1)
    assert rest.list_checkpoints(model.model_id).result(timeout=30).checkpoints == []
    rest.get_weights_info_by_tinker_path(model.save_state("brief").result(30).path).result(30)


def test_overwriting_is_allowed_when_asked_for(client, model):
    path = model.save_state("one").result(timeout=30).path
    model.forward_backward(datums(2, [12]), "cross_entropy")
    model.optim_step(types.DimuonParams(learning_rate=1e-1)).result(timeout=30)
    now = model.forward(datums(2, [12]), "cross_entropy").result(timeout=30).metrics
    assert model.save_state("one", overwrite=True).result(timeout=30).path == path
    other = client.create_training_client_from_state(path).result(timeout=30)
    assert other.forward(datums(2, [12]), "cross_entropy").result(timeout=30).metrics == now


def test_a_session_tells_its_runs(rest, client, model):
    session = model.model_id.partition(":")[0]
    told = rest.get_session(session).result(timeout=30)
    assert model.model_id in told.training_run_ids
    assert session in rest.list_sessions().result(timeout=30).sessions


def tinker_command(running, folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", tinker_cli.__spec__.parent, *words],
        env=os.environ | dict(running.environment), cwd=folder, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_sdks_own_command_lists_and_downloads(running, model, tmp_path):
    path = model.save_state("final").result(timeout=30).path
    listed = tinker_command(running, tmp_path, "--format", "json", "checkpoint", "list")
    assert path in listed
    tinker_command(running, tmp_path, "checkpoint", "download", path, "--output", str(tmp_path))
    files = {each.name for each in tmp_path.rglob("*") if each.is_file()}
    assert {"adapter_model.safetensors", "adapter_config.json"} <= files
