"""Eight clients at once: every one gets its own answers, and the memory stays small."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import tinker
from tinker import types

from .conftest import MODEL, datums, logprobs

CLIENTS, STEPS = 8, 4


def lifetime(running, seed: int) -> np.ndarray:
    """Train a model of one's own; the scores at the end."""
    client = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
    config = types.DimuonOptimizerConfig() if seed % 2 else None
    step = types.DimuonParams(learning_rate=1e-2) if seed % 2 else types.AdamParams()
    model = client.create_lora_training_client(
        base_model=MODEL, rank=32, seed=seed, optimizer=config
    ).result(timeout=60)
    batch = datums(seed, [9 + seed, 30, 21, 5, 44, 13])
    waiting = [
        (model.forward_backward(batch, "cross_entropy"), model.optim_step(step))
        for _ in range(STEPS)
    ]
    for scored, stepped in waiting:
        scored.result(timeout=60)
        assert stepped.result(timeout=60).metrics["update_successful:mean"] == 1
    model.save_state("end").result(timeout=60)
    return logprobs(model.forward(batch, "cross_entropy").result(timeout=60))


def test_eight_clients_get_what_each_would_get_alone(running):
    with ThreadPoolExecutor(CLIENTS) as pool:
        together = list(pool.map(lambda seed: lifetime(running, seed), range(CLIENTS)))
    alone = [lifetime(running, seed) for seed in range(CLIENTS)]
    assert all(map(np.array_equal, together, alone))


def test_twelve_live_adapters_stay_within_300_mebibytes(running):
    client = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
    batch = datums(1, [64] * 32)
    for seed in range(12):
        model = client.create_lora_training_client(base_model=MODEL, rank=32, seed=seed).result(60)
        model.forward_backward(batch, "cross_entropy")
        model.optim_step(types.AdamParams()).result(timeout=60)
    assert psutil.Process(running.process.pid).memory_info().rss <= 300 << 20
    client.close("success")
