"""The registry of optimizers. What is not in it is refused, never replaced."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.adamw import AdamW
from rx_tools.local.dimuon import Dimuon
from rx_tools.local.refusals import OperationFailedError

Array = NDArray[np.float32]


class Optimizer(Protocol):
    """State of one model's optimizer. `defaults` names every setting of a step.

    `last` holds the settings of the last step, as a saved optimizer holds its own; None before it.
    """

    type: ClassVar[str]
    defaults: ClassVar[Mapping[str, float]]
    step: int
    moments: dict[str, Array]
    last: Mapping[str, float] | None

    def update(
        self, adapter: Mapping[str, Array], gradients: Mapping[str, Array],
        settings: Mapping[str, float],
    ) -> dict[str, Array]:  # fmt: skip
        """The adapter after one step."""
        ...


KINDS: dict[str, type[AdamW] | type[Dimuon]] = {AdamW.type: AdamW, Dimuon.type: Dimuon}
HUGE = 1e300
"""Beyond it a setting cannot be meant, and a whole number may not even be a float."""

DEFAULT: Mapping[str, object] = {"type": AdamW.type}
KNOWN_CONFIG: dict[str, dict[str, object]] = {
    AdamW.type: {"type": AdamW.type},
    Dimuon.type: {"type": Dimuon.type, "version": 1},
}


def checked_config(asked: object) -> dict[str, object]:
    """The configuration to create; anything unknown in it is refused."""
    if not isinstance(asked, Mapping):
        raise OperationFailedError(f"optimizer_config {asked!r} must be an object")
    kind = asked.get("type")
    known = KNOWN_CONFIG.get(kind) if isinstance(kind, str) else None
    if known is None:
        names = ", ".join(KNOWN_CONFIG)
        raise OperationFailedError(f"unknown optimizer {kind!r}; this service has {names}")
    for name, value in asked.items():
        if known.get(name) != value or isinstance(value, bool):
            raise OperationFailedError(f"optimizer {kind}: {name}={value!r} is not supported")
    return dict(known)


def fresh(config: Mapping[str, object]) -> Optimizer:
    """An optimizer that has taken no step."""
    return KINDS[str(config["type"])]()


def checked_settings(kind: str, asked: Mapping[str, object]) -> dict[str, float]:
    """Every setting of one step as a finite number; unknown or missing ones are refused."""
    defaults = KINDS[kind].defaults
    settings = dict(defaults)
    for name, value in asked.items():
        if name == "type":
            continue
        if name not in defaults:
            raise OperationFailedError(f"{kind} has no setting {name!r}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise OperationFailedError(f"{kind}: {name} must be a number, not {value!r}")
        settings[name] = float(value) if abs(value) < HUGE else math.inf
    for name, number in settings.items():
        if not math.isfinite(number):
            raise OperationFailedError(f"{kind}: {name} must be a finite number")
    _check_ranges(kind, settings)
    return settings


def _check_ranges(kind: str, settings: Mapping[str, float]) -> None:
    for name in ("beta1", "beta2"):
        if name in settings and not 0 <= settings[name] < 1:
            raise OperationFailedError(f"{kind}: {name} must be in [0, 1)")
    for name in ("learning_rate", "eps", "weight_decay"):
        if name in settings and not settings[name] >= 0:
            raise OperationFailedError(f"{kind}: {name} must not be negative")


def global_norm(gradients: Mapping[str, Array]) -> float:
    """Euclidean norm over all tensors, in float64; not finite when any element is not."""
    squares = (
        float(np.vdot(g.astype(np.float64), g.astype(np.float64))) for g in gradients.values()
    )
    return math.sqrt(math.fsum(squares)) if gradients else 0.0


def clipped(gradients: Mapping[str, Array], norm: float, limit: float) -> Mapping[str, Array]:
    """Scaled down to the norm `limit` where it is positive and exceeded."""
    if limit <= 0 or norm <= limit:
        return gradients
    factor = np.float32(limit / norm)
    return {name: gradient * factor for name, gradient in gradients.items()}


def state_digest(optimizer: Optimizer) -> str:
    """SHA-256 of type, step and every moment's name, shape and little-endian bytes."""
    digest = hashlib.sha256(json.dumps([optimizer.type, optimizer.step]).encode())
    for name in sorted(optimizer.moments):
        moment = optimizer.moments[name]
        digest.update(f"{name}\0{moment.shape}\0".encode())
        digest.update(np.ascontiguousarray(moment, "<f4").tobytes())
    return digest.hexdigest()
