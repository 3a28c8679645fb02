"""What the benchmarks of the embedded service share: batches, a client, and one way to report."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["TINKER_TELEMETRY"] = "0"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

import rx_tools.local.threads  # noqa: F401, I001  (before numpy)

import numpy as np

from rx_tools.local.launcher import Running, launch

BATCH, RANK = 32, 32


def lengths(seed: int) -> list[int]:
    """32 lengths of about 64 tokens, as chats have them."""
    return np.random.default_rng(seed).integers(24, 105, BATCH).tolist()


def datums(seed: int, sizes: list[int]) -> list[Any]:
    """SDK datums of random tokens; half of the positions count."""
    from tinker import types

    source = np.random.default_rng(seed)
    return [
        types.Datum(
            model_input=types.ModelInput.from_ints(source.integers(0, 2048, size).tolist()),
            loss_fn_inputs={
                "target_tokens": source.integers(0, 2048, size),
                "weights": (source.random(size) < 0.5).astype(np.float32),
            },
        )
        for size in sizes
    ]


@contextmanager
def serving() -> Iterator[tuple[Running, Any]]:
    """A service of its own and a client of it."""
    import tinker

    with TemporaryDirectory() as folder, launch(Path(folder)) as running:
        client = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
        yield running, client
        client.close("success")


def report(what: str, measured: float, limit: float, unit: str) -> None:
    """One line: the measured figure over its limit; at most 1 is kept."""
    kept = "kept" if measured <= limit else "MISSED"
    print(f"{what}: {measured:.3g} {unit} of {limit:.3g}, ratio {measured / limit:.2f} ({kept})")
