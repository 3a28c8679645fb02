"""Reading `.safetensors` files in pieces; every bound of the header is checked before use."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.errors import DocumentError
from rx_tools.evidence.strict_json import parse_document
from rx_tools.model.json import is_integer

HEADER_LIMIT = 10 * 2**20
DIGEST_PIECE = 1 << 20

ITEM_BYTES: Mapping[str, int] = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1,
    "U64": 8, "U32": 4, "U16": 2, "U8": 1,
    "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}  # fmt: skip
"""Bytes of one element, by the names of the format."""

FLOATS: Mapping[str, str] = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""Floating types, and how their bytes are read."""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor of an open file; `begin` and `end` are byte positions in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int
    handle: FileIO

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def piece(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop` as float16, float32 or float64, exact; raises for other types."""
        if self.dtype not in FLOATS:
            raise DocumentError(
                f"tensor {self.name!r} is {self.dtype}, not a floating type", where=self.place
            )
        item = ITEM_BYTES[self.dtype]
        raw = self.read(self.begin + start * item, (stop - start) * item)
        values = np.frombuffer(raw, dtype=FLOATS[self.dtype])
        return widened(values) if self.dtype == "BF16" else values

    def raw(self) -> Iterator[bytes]:
        """The stored little-endian bytes, in pieces."""
        for at in range(self.begin, self.end, DIGEST_PIECE):
            yield bytes(self.read(at, min(DIGEST_PIECE, self.end - at)))

    def read(self, position: int, count: int) -> bytearray:
        """Exactly `count` bytes from `position`."""
        raw = bytearray(count)
        self.handle.seek(position)
        filled = 0
        with memoryview(raw) as view:
            while filled < count and (got := self.handle.readinto(view[filled:])):
                filled += got
        if filled < count:
            raise DocumentError(f"tensor {self.name!r} ends early", where=self.place)
        return raw

    @property
    def place(self) -> str:
        """The file's name, for messages."""
        return str(self.handle.name)


def widened(bfloat16: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The float32 values of bfloat16 bit patterns; exact."""
    bits = bfloat16.astype(np.uint32)
    bits <<= 16
    return bits.view(np.float32)


def read_header(handle: FileIO, path: Path) -> dict[str, StoredTensor]:
    """The tensors of an open file, by name. Raises `DocumentError` for a hostile header."""
    size = path.stat().st_size
    prefix = handle.read(8) or b""
    if len(prefix) < 8:
        raise DocumentError("too short for a safetensors file", where=str(path))
    length = int.from_bytes(prefix, "little")
    if not 2 <= length <= min(HEADER_LIMIT, size - 8):
        raise DocumentError(
            f"header of {length} bytes in a file of {size}", where=str(path),
            hint=f"at most {HEADER_LIMIT} bytes are accepted",
        )  # fmt: skip
    header = parse_document(handle.read(length) or b"", f"{path} (header)").value
    if not isinstance(header, dict):
        raise DocumentError("the header is not an object", where=str(path))
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    tensors = {
        name: stored(name, entry, 8 + length, handle, path) for name, entry in entries.items()
    }
    check_cover(tensors, 8 + length, size, path)
    return tensors


def stored(name: str, entry: object, data: int, handle: FileIO, path: Path) -> StoredTensor:
    """One entry of the header, checked by itself."""
    where = f"{path}: tensor {name!r}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise DocumentError("expected dtype, shape and data_offsets", where=where)
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise DocumentError(f"unknown type {dtype!r}", where=where)
    if not are_sizes(shape) or not are_sizes(offsets) or len(offsets) != 2:
        raise DocumentError("shape and data_offsets must be lists of sizes", where=where)
    begin, end = offsets
    if end - begin != math.prod(shape) * ITEM_BYTES[dtype]:
        raise DocumentError(
            f"{end - begin} bytes do not hold shape {shape} of {dtype}", where=where
        )
    return StoredTensor(name, dtype, tuple(shape), data + begin, data + end, handle)


def are_sizes(value: object) -> bool:
    """A list of at most 64 integers from 0 to 2⁶³."""
    return (
        isinstance(value, list)
        and len(value) <= 64
        and all(is_integer(item) and 0 <= item < 2**63 for item in value)
    )


def check_cover(tensors: Mapping[str, StoredTensor], data: int, size: int, path: Path) -> None:
    """The tensors must fill the data exactly: no overlap, no hole, nothing behind the end."""
    position = data
    for tensor in sorted(tensors.values(), key=lambda each: (each.begin, each.end)):
        if tensor.begin != position:
            raise DocumentError(
                f"tensor {tensor.name!r} overlaps another or leaves a hole", where=str(path)
            )
        position = tensor.end
    if position != size:
        raise DocumentError(f"tensors end at byte {position} of a file of {size}", where=str(path))
