"""Protobuf in and out, with the message classes of the installed `tinker` wheel.

The generated module is loaded by its path: importing the SDK itself would take ten times as long.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.errors import UsageError
from rx_tools.local.refusals import HttpRefusalError

Array = NDArray[np.float32]
MEDIA_TYPE = "application/x-protobuf"


@cache
def messages() -> ModuleType:
    """The module `tinker.proto.tinker_public_pb2`."""
    name = "tinker.proto.tinker_public_pb2"
    if name in sys.modules:
        return sys.modules[name]
    package = find_spec("tinker")
    if package is None or package.origin is None:
        raise UsageError(
            "the embedded service needs `tinker`", hint="pip install 'rx-tools[local]'"
        )
    path = Path(package.origin).with_name("proto") / "tinker_public_pb2.py"
    spec = spec_from_file_location("rx_tinker_public_pb2", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"cannot read {path}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True, slots=True)
class RawDatum:
    """One datum before any check: tokens as sent, tensors by name."""

    tokens: NDArray[np.int32]
    tensors: Mapping[str, NDArray[Any]]
    trouble: str = ""
    """Why it cannot be used, empty when it can."""


@dataclass(frozen=True, slots=True)
class ForwardBackward:
    """A `ForwardBackwardRequest` as plain values."""

    model_id: str
    seq_id: int
    loss: str
    settings: Mapping[str, float | str]
    forward_only: bool
    data: tuple[RawDatum, ...]


def parse_forward_backward(body: bytes) -> ForwardBackward:
    """Read the request; a body that is no such message is a 400."""
    message = messages().ForwardBackwardRequest()
    try:
        message.ParseFromString(body)
    except Exception as error:
        raise HttpRefusalError(400, "the body is no ForwardBackwardRequest message") from error
    settings: dict[str, float | str] = dict(message.loss_fn_config)
    for name, value in message.loss_fn_config_v2.items():
        settings[name] = value.text if value.WhichOneof("value") == "text" else value.number
    return ForwardBackward(
        message.model_id,
        message.seq_id,
        message.loss_fn,
        settings,
        message.forward_only,
        tuple(_datum(datum) for datum in message.data),
    )


def _datum(message: Any) -> RawDatum:
    parts, none = [], np.empty(0, np.int32)
    for chunk in message.model_input:
        kind = chunk.WhichOneof(chunk.DESCRIPTOR.oneofs[0].name)
        if kind != "encoded_text":
            return RawDatum(none, {}, f"{kind or 'empty'} chunks are not supported, only text")
        if len(chunk.encoded_text.tokens) % 4:
            return RawDatum(none, {}, "tokens are not whole int32 values")
        parts.append(np.frombuffer(chunk.encoded_text.tokens, "<i4"))
    tensors = {}
    for name, tensor in message.loss_fn_inputs.items():
        value = _tensor(tensor)
        if isinstance(value, str):
            return RawDatum(none, {}, f"{name}: {value}")
        tensors[name] = value
    return RawDatum(np.concatenate(parts) if parts else none, tensors)


def _tensor(message: Any) -> NDArray[Any] | str:
    pb = messages()
    kinds = {pb.DTYPE_FLOAT32: "<f4", pb.DTYPE_INT64: "<i8", pb.DTYPE_INT32: "<i4"}
    kind = kinds.get(message.dtype)
    if kind is None:
        return "the dtype is neither float32 nor int64"
    if message.HasField("sparse_csr"):
        return "sparse tensors are not supported"
    if len(message.dense) % np.dtype(kind).itemsize:
        return "the data are no whole number of elements"
    values = np.frombuffer(message.dense, kind)
    if message.shape and list(message.shape) != [len(values)]:
        return f"shape {list(message.shape)} is not one dimension of {len(values)} elements"
    return values


def batched(arrays: Sequence[Array]) -> Any:
    """A `BatchedTensor`: all arrays in one buffer, with byte offsets."""
    pb = messages()
    offsets = np.cumsum([0, *(4 * len(each) for each in arrays)], dtype=np.int64)
    return pb.BatchedTensor(
        data=np.concatenate([*arrays, np.empty(0, np.float32)]).astype("<f4").tobytes(),
        offsets=offsets.astype("<i8").tobytes(),
        dtype=pb.DTYPE_FLOAT32,
    )


def topk(ids: NDArray[np.int32], logprobs: Array) -> Any:
    """A `TopkLogprobs` of two (length × k) matrices."""
    length, k = ids.shape
    return messages().TopkLogprobs(
        token_ids=np.ascontiguousarray(ids, "<i4").tobytes(),
        logprobs=np.ascontiguousarray(logprobs, "<f4").tobytes(),
        k=k,
        length=length,
    )


def pack_forward_backward(logprobs: Sequence[Array], metrics: Mapping[str, float]) -> bytes:
    """A `ForwardBackwardOutput` with one record."""
    pb = messages()
    record = pb.ArrayRecord(num_datums=len(logprobs))
    record.fields["logprobs"].CopyFrom(batched(logprobs))
    output = pb.ForwardBackwardOutput(
        loss_fn_output_type="ArrayRecord", loss_fn_outputs=[record], metrics=dict(metrics)
    )
    content: bytes = output.SerializeToString()
    return content
