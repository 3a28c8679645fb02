"""SIGKILL and restart: live models are lost, everything saved loads."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from urllib.error import HTTPError

import numpy as np
import pytest
import tinker
from tinker import types

from rx_tools.errors import ServiceError
from rx_tools.local.launcher import launch

from .conftest import MODEL, datums, logprobs

BATCH = datums(1, [15, 22])
STEP = types.AdamParams(learning_rate=1e-2)


def connect(running):
    return tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)


def train(model):
    model.forward_backward(BATCH, "cross_entropy")
    model.optim_step(STEP).result(timeout=30)


def scores(model):
    return logprobs(model.forward(BATCH, "cross_entropy").result(timeout=30))


def get_info_status(running, model_id: str) -> int:
    request = urllib.request.Request(
        f"{running.base_url}/api/v1/get_info", json.dumps({"model_id": model_id}).encode(),
        {"x-api-key": running.api_key},
    )  # fmt: skip
    with pytest.raises(HTTPError) as caught:
        urllib.request.urlopen(request, timeout=10)
    return caught.value.code


def test_after_sigkill_models_are_lost_and_checkpoints_load_bit_for_bit(tmp_path):
    with launch(tmp_path, model_names=[MODEL]) as first:
        model = connect(first).create_lora_training_client(base_model=MODEL, rank=8).result(30)
        train(model)
        path = model.save_state("one").result(timeout=30).path
        train(model)
        expected = scores(model)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(timeout=10)
    with launch(tmp_path, model_names=[MODEL]) as second:
        assert get_info_status(second, model.model_id) == 410
        assert get_info_status(second, f"{'0' * 8}:train:0") == 404
        restored = connect(second).create_training_client_from_state_with_optimizer(path).result(30)
        train(restored)
        assert np.array_equal(scores(restored), expected)


def test_killing_it_while_it_saves_leaves_only_whole_checkpoints(tmp_path):
    for moment in (0.01, 0.05, 0.12):
        with launch(tmp_path, model_names=[MODEL]) as running:
            client = connect(running)
            model = client.create_lora_training_client(base_model=MODEL, rank=64).result(30)
            for index in range(40):
                model.save_state(f"c{index}")
            time.sleep(moment)
            running.process.send_signal(signal.SIGKILL)
            running.process.wait(timeout=10)
    with launch(tmp_path, model_names=[MODEL]) as running:
        client = connect(running)
        rest = client.create_rest_client()
        saved = rest.list_user_checkpoints(limit=1000).result(timeout=30).checkpoints
        for each in saved:
            client.create_training_client_from_state_with_optimizer(each.tinker_path).result(30)


def test_one_store_serves_one_process(tmp_path):
    with launch(tmp_path), pytest.raises(ServiceError, match="another service works in this store"):
        launch(tmp_path)


def test_the_service_ends_with_its_parent(tmp_path):
    """A parent that is killed takes the service along."""
    code = (
        "import sys, time; from pathlib import Path; from rx_tools.local.launcher import launch; "
        "r = launch(Path(sys.argv[1])); print(r.process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait(timeout=10)
    parent.stdout.close()
    import psutil

    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.1)
    raise AssertionError("the service outlived its parent")


def test_a_taken_port_is_said_in_one_line(tmp_path):
    with launch(tmp_path / "a") as running:
        port = int(running.base_url.rpartition(":")[2])
        with pytest.raises(ServiceError, match=f"cannot listen on 127.0.0.1:{port}"):
            launch(tmp_path / "b", port=port)


def test_silence_closes_a_session(tmp_path):
    """Without heartbeat the models are released and the session answers 409."""
    from rx_tools.local.assets import tokenizer_folder
    from rx_tools.local.refusals import HttpRefusalError
    from rx_tools.local.service import Service
    from rx_tools.local.settings import Settings

    settings = Settings(tmp_path, "tml-local-x", tokenizer_folder(), idle_seconds=0.2)
    service = Service(settings)
    session = service.sessions.open(None, None)
    for _ in range(100):
        if session.closed:
            break
        time.sleep(0.1)
    with pytest.raises(HttpRefusalError, match="evicted") as caught:
        service.sessions.alive(session.session_id)
    assert caught.value.status == 409
    service.close()
