"""Every fault that can be asked for; what each does is said in `fault_catalogue`.

They compose: each is asked at each hook, in the order given.
"""

import os
import signal
import time
from collections.abc import Mapping
from itertools import count
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.fault import Config, Fault
from rx_tools.local.optimizers import Optimizer
from rx_tools.local.refusals import Category, HttpRefusalError, OperationFailedError

Array = NDArray[np.float32]
ADAMW: Config = {"type": "adamw"}


class Countdown:
    """Counts events of many threads."""

    def __init__(self) -> None:
        self._numbers, self._lock = count(1), Lock()

    def next(self) -> int:
        """1, 2, 3 …"""
        with self._lock:
            return next(self._numbers)


class SeedRefused(Fault):
    name = "seed-refused"

    def on_create(self, seed: int | None) -> None:
        if seed is not None:
            raise OperationFailedError("lora_config.seed is not supported by this deployment")


class DropOptimizer(Fault):
    name = "drop-optimizer"

    def created(self, config: Config) -> Config:
        del config
        return ADAMW

    restored = created

    def swallows_parameters(self) -> bool:
        return True

    def hides_optimizer(self) -> bool:
        return True


class RateIgnored(Fault):
    name = "rate-ignored"

    def settings(self, asked: Mapping[str, float]) -> Mapping[str, float]:
        return {**asked, "learning_rate": 1e-4}


class ColdRestore(Fault):
    name = "cold-restore"

    def restored_state(self, saved: Optimizer, cold: Optimizer) -> Optimizer:
        del saved
        return cold


class AdamwOnRestore(Fault):
    name = "adamw-on-restore"

    def restored(self, config: Config) -> Config:
        del config
        return ADAMW

    def swallows_parameters(self) -> bool:
        return True


class NoExternalWeights(Fault):
    name = "no-external-weights"

    def on_submit(self, path: str) -> None:
        if path.endswith("/save_weights_external"):
            raise HttpRefusalError(404, "Not Found")


class NoObservation(Fault):
    name = "no-observation"

    def hides_observation(self) -> bool:
        return True


class Capacity(Fault):
    name = "capacity"

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def on_create(self, seed: int | None) -> None:
        del seed
        if self._seen.next() <= self.argument:
            raise OperationFailedError("trainer capacity exhausted", Category.SERVER)


class CapacityForever(Fault):
    name = "capacity-forever"

    def stalls_creation(self) -> bool:
        return True


class Refuses(Fault):
    status: int
    sentence: str

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def on_submit(self, path: str) -> None:
        del path
        if self._seen.next() <= self.argument:
            raise HttpRefusalError(self.status, self.sentence)


class Http429(Refuses):
    name, status, sentence = "http-429", 429, "draining: try again"


class Http503(Refuses):
    name, status, sentence = "http-503", 503, "engine unreachable"


class ModelLostAfter(Fault):
    name = "model-lost-after"

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def after_step(self) -> bool:
        return self._seen.next() == self.argument


class IdleEvict(Fault):
    name = "idle-evict"

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen: dict[str, int] = {}
        self._done = False

    def on_operation(self, session_id: str) -> bool:
        self._seen[session_id] = seen = self._seen.get(session_id, 0) + 1
        if self._done or seen <= self.argument:
            return False
        self._done = True
        return True


class NanGrad(Fault):
    name = "nan-grad"

    def gradients(self, step: int, gradients: dict[str, Array]) -> dict[str, Array]:
        if step != self.argument:
            return gradients
        return {name: np.full_like(gradient, np.nan) for name, gradient in gradients.items()}


class Slow(Fault):
    name = "slow"

    def before_answer(self, path: str) -> None:
        del path
        time.sleep(self.argument / 1000)


class CorruptWeights(Fault):
    name = "corrupt-weights"

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def exported(self, files: dict[str, bytes]) -> dict[str, bytes]:
        damaged = {}
        for name, content in files.items():
            spoilt = bytearray(content)
            if name == "adapter_model.safetensors":
                begin = 8 + int.from_bytes(content[:8], "little")
                spoilt[begin + 4 * self._seen.next() + 2] ^= 0x40
            damaged[name] = bytes(spoilt)
        return damaged


class Drift(Fault):
    name = "drift"

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def logprobs(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        source = np.random.default_rng(self._seen.next())
        return tuple(
            array + (self.argument * source.standard_normal(array.shape)).astype(np.float32)
            for array in arrays
        )


class Finish404(Fault):
    name = "finish-404"

    def before_answer(self, path: str) -> None:
        if path.endswith("/finish"):
            raise HttpRefusalError(404, "Not Found")


class KillAfter(Fault):
    name = "kill-after"

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def after_step(self) -> bool:
        if self._seen.next() == self.argument:
            os.kill(os.getpid(), signal.SIGKILL)
        return False


ALL: tuple[type[Fault], ...] = (
    SeedRefused, DropOptimizer, RateIgnored, ColdRestore, AdamwOnRestore,
    NoExternalWeights, NoObservation, Capacity, CapacityForever, Http429, Http503,
    ModelLostAfter, IdleEvict, NanGrad, Slow, CorruptWeights, Drift, Finish404, KillAfter,
)  # fmt: skip
