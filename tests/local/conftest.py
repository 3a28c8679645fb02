"""One running service per module, and small batches."""

import os
from pathlib import Path

import numpy as np
import pytest

os.environ["TINKER_TELEMETRY"] = "0"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

from rx_tools.local.launcher import Running, launch

MODEL = "Qwen/Qwen3.5-2B"


def datums(seed: int, lengths: list[int]):
    """Random SDK datums; half of the positions count."""
    from tinker import types

    source = np.random.default_rng(seed)
    return [
        types.Datum(
            model_input=types.ModelInput.from_ints(source.integers(0, 2048, length).tolist()),
            loss_fn_inputs={
                "target_tokens": source.integers(0, 2048, length),
                "weights": (source.random(length) < 0.5).astype(np.float32),
            },
        )
        for length in lengths
    ]


def logprobs(result) -> np.ndarray:
    """All log-probabilities of a forward result in one array."""
    return np.concatenate([each["logprobs"].to_numpy() for each in result.loss_fn_outputs])


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Running:
    store: Path = tmp_path_factory.mktemp("store")
    with launch(store, log=store / "log", model_names=[MODEL], chunk=4) as service:
        yield service


@pytest.fixture
def client(running):
    import tinker

    service = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
    yield service
    service.close("success").result(10)
