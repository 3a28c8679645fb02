"""Memory with 12 live adapters of rank 32 after a step each: at most 300 MiB.

Run with `python -m benchmarks.serve_memory`; needs `psutil`.
"""

import psutil
from tinker import types

from benchmarks.serving import RANK, datums, lengths, report, serving

if __name__ == "__main__":
    with serving() as (running, client):
        for seed in range(12):
            model = client.create_lora_training_client(
                "rx/tiny-qwen3", rank=RANK, seed=seed
            ).result(timeout=60)
            model.forward_backward(datums(seed, [2048, *lengths(seed)]), "cross_entropy")
            model.optim_step(types.AdamParams()).result(timeout=120)
        used = psutil.Process(running.process.pid).memory_info()
    report("resident with 12 live adapters", used.rss / (1 << 20), 300, "MiB")
