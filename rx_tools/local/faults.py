"""Every fault that can be asked for. They compose: each is asked at each hook, in this order."""

import os
import signal
import time
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
    """a creation with a LoRA seed fails (category user)"""

    name = "seed-refused"

    def on_create(self, seed: int | None) -> None:
        if seed is not None:
            raise OperationFailedError("lora_config.seed is not supported by this deployment")


class DropOptimizer(Fault):
    """dimuon silently becomes AdamW at 1e-4, and get_info says nothing of the optimizer"""

    name = "drop-optimizer"

    def created(self, config: Config) -> Config:
        del config
        return ADAMW

    restored = created

    def swallows_parameters(self) -> bool:
        return True

    def hides_optimizer(self) -> bool:
        return True


class ColdRestore(Fault):
    """a load with optimizer restores the weights and a fresh optimizer"""

    name = "cold-restore"

    def restored_state(self, saved: Optimizer, cold: Optimizer) -> Optimizer:
        del saved
        return cold


class AdamwOnRestore(Fault):
    """a model created from a checkpoint gets AdamW, whatever it had"""

    name = "adamw-on-restore"

    def restored(self, config: Config) -> Config:
        del config
        return ADAMW

    def swallows_parameters(self) -> bool:
        return True


class NoExternalWeights(Fault):
    """save_weights_external answers 404, and the model's request sequence stalls"""

    name = "no-external-weights"

    def on_submit(self, path: str) -> None:
        if path.endswith("/save_weights_external"):
            raise HttpRefusalError(404, "Not Found")


class NoObservation(Fault):
    """the observation of the concrete optimizer answers 404"""

    name = "no-observation"

    def hides_observation(self) -> bool:
        return True


class Capacity(Fault):
    """the first N creations fail with `trainer capacity exhausted` (category server)"""

    name = "capacity"
    default = 1

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def on_create(self, seed: int | None) -> None:
        del seed
        if self._seen.next() <= self.argument:
            raise OperationFailedError("trainer capacity exhausted", Category.SERVER)


class CapacityForever(Fault):
    """creations stay pending for ever (queue state paused_capacity)"""

    name = "capacity-forever"

    def stalls_creation(self) -> bool:
        return True


class Refuses(Fault):
    """the first N operations are answered with an HTTP status"""

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
    """the first N operations are answered 429"""

    name, default, status, sentence = "http-429", 1, 429, "draining: try again"


class Http503(Refuses):
    """the first N operations are answered 503"""

    name, default, status, sentence = "http-503", 1, 503, "engine unreachable"


class ModelLostAfter(Fault):
    """after N optimizer steps in all, once, every live model is lost (410 model_lost)"""

    name = "model-lost-after"
    default = 1

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def after_step(self) -> bool:
        return self._seen.next() == self.argument


class IdleEvict(Fault):
    """a session is evicted, as if silent, after N operations of it, once (then 409)"""

    name = "idle-evict"
    default = 10

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
    """the N-th optimizer step of every live model sees a gradient that is not finite"""

    name = "nan-grad"
    default = 1

    def gradients(self, step: int, gradients: dict[str, Array]) -> dict[str, Array]:
        if step != self.argument:
            return gradients
        return {name: np.full_like(gradient, np.nan) for name, gradient in gradients.items()}


class Slow(Fault):
    """every answer takes MS milliseconds longer; the worker is not slowed"""

    name = "slow"
    default = 100

    def before_answer(self, path: str) -> None:
        del path
        time.sleep(self.argument / 1000)


class CorruptWeights(Fault):
    """one weight of every exported adapter is changed, another one each time"""

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
    """Gaussian noise of this standard deviation on every answered log-probability"""

    name = "drift"
    default = 1e-4

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
    """closing a session answers 404"""

    name = "finish-404"

    def before_answer(self, path: str) -> None:
        if path.endswith("/finish"):
            raise HttpRefusalError(404, "Not Found")


class KillAfter(Fault):
    """the service kills itself (SIGKILL) in its N-th optimizer step, before answering"""

    name = "kill-after"
    default = 1

    def __init__(self, argument: float) -> None:
        super().__init__(argument)
        self._seen = Countdown()

    def after_step(self) -> bool:
        if self._seen.next() == self.argument:
            os.kill(os.getpid(), signal.SIGKILL)
        return False


ALL: tuple[type[Fault], ...] = (
    SeedRefused, DropOptimizer, ColdRestore, AdamwOnRestore, NoExternalWeights, NoObservation,
    Capacity, CapacityForever, Http429, Http503, ModelLostAfter, IdleEvict, NanGrad, Slow,
    CorruptWeights, Drift, Finish404, KillAfter,
)  # fmt: skip
