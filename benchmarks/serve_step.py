"""A training step through the SDK over HTTP, against the engine's own computation: at most 1.2.

32 examples of about 64 tokens, rank 32, AdamW; steps are submitted ahead, as a training loop does.
Both are taken in turn, so that other work on the machine slows both. Run with
`python -m benchmarks.serve_step`.
"""

import rx_tools.local.threads  # noqa: F401, I001  (before numpy)

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from tinker import types

from benchmarks.serving import RANK, datums, lengths, report, serving
from rx_tools.local import optimizers
from rx_tools.local.base import tiny
from rx_tools.local.batch import Example
from rx_tools.local.engine import Engine
from rx_tools.local.lora import LoraConfig, fresh

STEPS, ROUNDS = 20, 5
SETTINGS = {"learning_rate": 1e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.0}


def example(datum: types.Datum) -> Example:
    """The same datum for the engine."""
    inputs = datum.loss_fn_inputs
    return Example(
        np.array(datum.model_input.to_ints()),
        inputs["target_tokens"].to_numpy(),
        {"weights": inputs["weights"].to_numpy()},
    )


def alone(batches: list[list[Example]]) -> float:
    """Seconds per step of the engine in this process."""
    engine, config = Engine(tiny()), LoraConfig(RANK)
    adapter = fresh(engine.base, config, 0)
    optimizer = optimizers.fresh({"type": "adamw"})
    begin = perf_counter()
    for batch in batches:
        gradients = engine.run(config, adapter, batch, backward=True).gradients
        optimizers.global_norm(gradients)
        adapter = optimizer.update(adapter, gradients, SETTINGS)
    return (perf_counter() - begin) / len(batches)


def through_the_sdk(model: Any, batches: list[list[types.Datum]]) -> float:
    """Seconds per step, two steps ahead of the results."""
    params = types.AdamParams(learning_rate=1e-4, eps=1e-8)
    begin, waiting = perf_counter(), []
    for batch in batches:
        waiting.append((model.forward_backward(batch, "cross_entropy"), model.optim_step(params)))
        if len(waiting) > 2:
            for each in waiting.pop(0):
                each.result(timeout=60)
    for pair in waiting:
        for each in pair:
            each.result(timeout=60)
    return (perf_counter() - begin) / len(batches)


if __name__ == "__main__":
    sdk_batches = [datums(seed, lengths(seed)) for seed in range(STEPS)]
    own_batches = [[example(datum) for datum in batch] for batch in sdk_batches]
    with serving() as (_, client):
        model = client.create_lora_training_client("rx/tiny-qwen3", rank=RANK).result(timeout=60)
        pairs = [(through_the_sdk(model, sdk_batches), alone(own_batches)) for _ in range(ROUNDS)]
    sdk, own = (median(each) for each in zip(*pairs, strict=True))
    print(f"engine alone {1000 * own:.1f} ms, through the SDK {1000 * sdk:.1f} ms a step")
    report("through the SDK over the engine", median(s / o for s, o in pairs), 1.2, "times")
