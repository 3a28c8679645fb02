"""How much the runner adds to the engine's own time, and what pipelining gains on a slow line.

Three claims of the README, printed as ratios of one run (the first of the best of three):
- client overhead: (wall of an arm over HTTP / the same computation in-process) − 1, at most 0.15;
  beside it the same in seconds of CPU, which a busy machine distorts less (client and server
  overlap, so on two free cores the wall is the smaller of the two);
- pipelining: wall of an arm / wall of the sequential script of a published spec (each result
  waited for before the next request), on a service that answers 100 ms late, at most 0.6;
- memory: the client's peak resident size, at most 600 MiB (run it where torch is not installed).

Run with `python -m benchmarks.runner_speed [steps]`.
"""

import rx_tools.local.threads  # noqa: F401, I001  (before numpy)

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import tinker

from rx_tools.evidence.ledger import Ledger
from rx_tools.local import lora, optimizers
from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.base import tiny
from rx_tools.local.batch import Example
from rx_tools.local.engine import Engine
from rx_tools.local.launcher import Running, launch
from rx_tools.local.lora import LoraConfig
from rx_tools.local.models import LiveModel
from rx_tools.model.names import ArmName
from rx_tools.runner.arms.arm import ArmJob, Workshop
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.wire.capacity import CapacityPolicy
from rx_tools.runner.data.sources import BUILT_IN
from rx_tools.runner.data.order import Order
from rx_tools.runner.data.prepared import DataChoices, PreparedData, prepare_data
from rx_tools.runner.service import ModelConfig, OptimizerConfig
from rx_tools.runner.wire.tinker_service import TinkerService
from rx_tools.runner.wire.tinker_values import sdk_batch

RATE = 3e-4
ADAMW = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8}
CONFIG = ModelConfig("rx/tiny-qwen3", 32, OptimizerConfig("adamw", ADAMW), seed=0)


def prepared() -> PreparedData:
    choices = DataChoices(Order.SHUFFLE_PER_SEED, 32, 2048, eval_first=300)
    return prepare_data(BUILT_IN, renderer="qwen3_5", tokenizer=tokenizer_folder(), choices=choices)


def engine_seconds(data: PreparedData, steps: int) -> float:
    """The same forward, backward and update without any wire."""
    base, config = tiny(), LoraConfig(32)
    adapter = lora.fresh(base, config, 0)
    engine, kind = Engine(base), optimizers.checked_config({"type": "adamw"})
    model = LiveModel("m", "s", "tiny", config, adapter, kind, optimizers.fresh(kind))
    settings = optimizers.checked_settings("adamw", {**ADAMW, "learning_rate": RATE})
    start = perf_counter()
    for step in range(steps):
        examples = [
            Example(datum.tokens, datum.targets, {"weights": datum.weights})
            for datum in data.train_batch(0, step)
        ]
        outcome = engine.run(config, model.adapter, examples, backward=True)
        model.accumulate(outcome.gradients)
        model.step(settings)
    return perf_counter() - start


def arm_seconds(running: Running, data: PreparedData, steps: int, ahead: int = 4) -> float:
    """One arm with ledger, checks and two checkpoints, from creation to the final checkpoint."""
    service = TinkerService(running.base_url, running.api_key)
    with tempfile.TemporaryDirectory() as name:
        run = Path(name)
        for folder in ("evidence", "work"):
            (run / folder).mkdir()
        with Ledger.create(run / "ledger.jsonl", "bench") as ledger:
            policy = CapacityPolicy(perf_counter, time.sleep, lambda: 0)
            shop = Workshop(service, ledger, data, run / "evidence", run / "work", policy)
            job = ArmJob(
                ArmName("arm"), 0, steps, CONFIG, lambda step: RATE, checkpoint_every=20,
                ahead=ahead,
            )  # fmt: skip
            start = perf_counter()
            train_arm(job, shop)
            return perf_counter() - start


def sequential_seconds(running: Running, data: PreparedData, steps: int) -> float:
    """The published script's loop: every result is waited for before the next request."""
    client = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
    start = perf_counter()
    model = client.create_lora_training_client(CONFIG.base_model, rank=32, seed=0).result()
    for step in range(steps):
        batch = sdk_batch(data.train_batch(0, step))
        model.forward_backward(batch, loss_fn="cross_entropy").result()
        model.optim_step(tinker.AdamParams(learning_rate=RATE, **ADAMW)).result()
    model.save_state("final").result()
    seconds = perf_counter() - start
    client.close("success").result(10)
    return seconds


def measured(work: Callable[[], float]) -> tuple[float, float]:
    """Seconds of this process's CPU, and what `work` measured."""
    before = time.process_time()
    seconds = work()
    return time.process_time() - before, seconds


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    data = prepared()
    for step in range(steps):
        data.train_batch(0, step)
    with tempfile.TemporaryDirectory() as store, launch(Path(store)) as running:
        arm_seconds(running, data, 3)
        engines, arms = [], []
        for _ in range(3):
            engines.append(measured(lambda: engine_seconds(data, steps)))
            arms.append(measured(lambda: arm_seconds(running, data, steps)))
    (engine_cpu, engine), (client_cpu, arm) = (
        tuple(map(min, zip(*runs, strict=True))) for runs in (engines, arms)
    )
    print(f"engine {engine:.2f} s, arm {arm:.2f} s: overhead {arm / engine - 1:+.1%} (≤ 15 %)")
    print(
        f"CPU: engine {engine_cpu:.2f} s, client {client_cpu:.2f} s: {client_cpu / engine_cpu:.1%}"
    )
    with (
        tempfile.TemporaryDirectory() as store,
        launch(Path(store), faults=["slow:100"]) as running,
    ):
        slow = sequential_seconds(running, data, steps)
        quick = arm_seconds(running, data, steps)
    print(
        f"100 ms late: sequential {slow:.2f} s, arm {quick:.2f} s: ratio {quick / slow:.2f} (≤ 0.6)"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak resident size of the client {peak:.0f} MiB (≤ 600)")


if __name__ == "__main__":
    main()
