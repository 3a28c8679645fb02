"""From raw datums to checked examples: what the engine may trust."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.batch import Example
from rx_tools.local.losses import LOSSES
from rx_tools.local.refusals import OperationFailedError
from rx_tools.local.shape import Shape
from rx_tools.local.wire import RawDatum

DATUMS_AT_MOST = 4096


def checked_loss(name: str, settings: Mapping[str, float | str]) -> dict[str, float]:
    """The settings of a known loss; unknown losses and settings are refused."""
    rule = LOSSES.get(name)
    if rule is None:
        raise OperationFailedError(f"unknown loss {name!r}; this service has {', '.join(LOSSES)}")
    numbers = {}
    for key, value in settings.items():
        if key not in rule.settings or isinstance(value, str):
            raise OperationFailedError(f"loss {name} has no setting {key}={value!r}")
        if not np.isfinite(value):
            raise OperationFailedError(f"loss {name}: {key} must be a finite number")
        numbers[key] = float(value)
    return numbers


def checked_examples(data: Sequence[RawDatum], loss: str, shape: Shape) -> list[Example]:
    """Examples for `loss`; the first wrong datum is refused with its position and the reason."""
    if not data:
        raise OperationFailedError("there is no datum in the request")
    if len(data) > DATUMS_AT_MOST:
        raise OperationFailedError(f"{len(data)} datums in one request; at most {DATUMS_AT_MOST}")
    examples = []
    for position, raw in enumerate(data):
        try:
            examples.append(_example(raw, LOSSES[loss].needs, shape))
        except ValueError as error:
            raise OperationFailedError(f"datum {position}: {error}") from error
    return examples


def _example(raw: RawDatum, needs: Sequence[str], shape: Shape) -> Example:
    if raw.trouble:
        raise ValueError(raw.trouble)
    length = len(raw.tokens)
    if not 0 < length <= shape.max_context:
        raise ValueError(f"{length} tokens; expected 1 to {shape.max_context}")
    known = {"target_tokens", "weights", *needs}
    if unknown := set(raw.tensors) - known:
        raise ValueError(f"unknown loss inputs: {', '.join(sorted(unknown))}")
    targets = raw.tensors.get("target_tokens")
    if targets is None:
        raise ValueError("target_tokens are missing")
    tokens = _token_ids("tokens", raw.tokens, length, shape)
    inputs = {name: _floats(name, raw, length) for name in needs}
    return Example(tokens, _token_ids("target_tokens", targets, length, shape), inputs)


def _token_ids(name: str, ids: NDArray[Any], length: int, shape: Shape) -> NDArray[np.int64]:
    if ids.dtype.kind != "i":
        raise ValueError(f"{name} must be integers, not {ids.dtype}")
    if len(ids) != length:
        raise ValueError(f"{len(ids)} {name} for {length} tokens")
    if ids.min() < 0 or ids.max() >= shape.vocabulary:
        raise ValueError(f"{name} must be in 0 … {shape.vocabulary - 1}")
    return ids.astype(np.int64)


def _floats(name: str, raw: RawDatum, length: int) -> NDArray[np.float32]:
    values = raw.tensors.get(name)
    if values is None and name == "weights":
        return np.ones(length, np.float32)
    if values is None:
        raise ValueError(f"{name} are missing")
    if values.dtype.kind not in "fi" or len(values) != length:
        raise ValueError(f"{name} must be {length} numbers, not {len(values)} of {values.dtype}")
    numbers = values.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite")
    return numbers
