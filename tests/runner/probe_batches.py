"""Batches for the probes: random tokens, most of them counted."""

import numpy as np

from rx_tools.runner.service import Datum


def batch_of(seed, examples=4, tokens=40):
    random = np.random.default_rng(seed)
    return [
        Datum(
            random.integers(0, 2000, tokens),
            random.integers(0, 2000, tokens),
            (random.random(tokens) < 0.7).astype(np.float32),
        )
        for _ in range(examples)
    ]
