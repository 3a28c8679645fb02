"""Reading `.npz` files in pieces: no pickles, no trust in declared sizes."""

import math
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rx_tools.errors import DocumentError

MEMBER_LIMIT = 100_000
NPY_HEADER_LIMIT = 10_000
DIGEST_ELEMENTS = 1 << 17

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    SyntaxError,
    TypeError,
)
"""Whatever the standard readers raise over damaged or hostile bytes."""

NAMES = {
    "f8": "F64", "f4": "F32", "f2": "F16",
    "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8",
    "u8": "U64", "u4": "U32", "u2": "U16", "u1": "U8", "b1": "BOOL",
}  # fmt: skip
"""numpy's type codes → the names that safetensors files use."""


@dataclass(slots=True)
class ZippedTensor:
    """One array of an open archive, read forward in pieces; going back reopens it.

    An array in Fortran order of two or more dimensions is read as a whole.
    """

    name: str
    shape: tuple[int, ...]
    stored: np.dtype[Any]
    fortran: bool
    archive: zipfile.ZipFile
    member: zipfile.ZipInfo
    offset: int
    stream: IO[bytes] | None = None
    position: int = 0
    whole: NDArray[Any] | None = field(default=None, repr=False)

    @property
    def dtype(self) -> str:
        """The element type by its safetensors name."""
        return NAMES[self.stored.str[1:]]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def piece(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop` in row-major order; raises for types that are not floating."""
        if self.stored.kind != "f":
            raise DocumentError(
                f"tensor {self.name!r} is {self.dtype}, not a floating type", where=self.place
            )
        return self.elements(start, stop)

    def elements(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop` of any type."""
        if not self.fortran:
            return self.forward(start, stop)
        if self.whole is None:
            flat = self.forward(0, self.size)
            self.whole = flat.reshape(self.shape, order="F").reshape(-1)
        return self.whole[start:stop]

    def forward(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop` in the order in which they are stored."""
        if self.stream is None or self.position > start:
            self.close()
            self.stream = self.archive.open(self.member)
            take(self.stream, self.offset, self.place, self.name)
            self.position = 0
        take(self.stream, (start - self.position) * self.stored.itemsize, self.place, self.name)
        raw = take(self.stream, (stop - start) * self.stored.itemsize, self.place, self.name)
        self.position = stop
        return np.frombuffer(raw, dtype=self.stored)

    def raw(self) -> Iterator[bytes]:
        """Little-endian bytes in row-major order, in pieces."""
        for start in range(0, self.size, DIGEST_ELEMENTS):
            values = self.elements(start, min(start + DIGEST_ELEMENTS, self.size))
            yield values.astype(self.stored.newbyteorder("<"), copy=False).tobytes()

    def close(self) -> None:
        """Give the stream back."""
        if self.stream is not None:
            self.stream.close()
            self.stream = None

    @property
    def place(self) -> str:
        """The archive's name, for messages."""
        return str(self.archive.filename)


def take(stream: IO[bytes], count: int, place: str, name: str) -> bytes:
    """Exactly `count` bytes of a stream."""
    try:
        raw = stream.read(count) if count else b""
    except DAMAGE as error:
        raise DocumentError(f"tensor {name!r} is damaged: {error}", where=place) from None
    if len(raw) < count:
        raise DocumentError(f"tensor {name!r} ends early", where=place)
    return raw


def read_members(archive: zipfile.ZipFile, path: Path) -> dict[str, ZippedTensor]:
    """The arrays of an open archive, by name. Raises `DocumentError` for a hostile one."""
    members = archive.infolist()
    if len(members) > MEMBER_LIMIT:
        raise DocumentError(f"{len(members)} members are too many", where=str(path))
    tensors: dict[str, ZippedTensor] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in tensors:
            raise DocumentError(f"tensor {name!r} is there twice", where=str(path))
        tensors[name] = zipped(name, archive, member, path)
    return tensors


def zipped(
    name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path
) -> ZippedTensor:
    """One member, its header checked against its size."""
    where = f"{path}: tensor {name!r}"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DocumentError("compressed in a way that numpy does not write", where=where)
    try:
        with archive.open(member) as stream:
            shape, fortran, dtype = read_npy_header(stream)
            offset = stream.tell()
    except DAMAGE as error:
        raise DocumentError(f"not a plain array: {error}", where=where) from None
    if dtype.hasobject or dtype.str[1:] not in NAMES:
        raise DocumentError(f"type {dtype} is refused", where=where)
    if any(size < 0 for size in shape) or len(shape) > 64:
        raise DocumentError(f"impossible shape {shape}", where=where)
    if offset + math.prod(shape) * dtype.itemsize != member.file_size:
        raise DocumentError(
            f"{member.file_size - offset} bytes do not hold shape {list(shape)} of {dtype}",
            where=where,
        )
    reordered = fortran and len(shape) > 1
    return ZippedTensor(name, shape, dtype, reordered, archive, member, offset)


def read_npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, Fortran order and type; raises `ValueError` for anything else."""
    version = npy.read_magic(stream)
    if version == (1, 0):
        return npy.read_array_header_1_0(stream, max_header_size=NPY_HEADER_LIMIT)
    if version == (2, 0):
        return npy.read_array_header_2_0(stream, max_header_size=NPY_HEADER_LIMIT)
    raise ValueError(f"version {version} of the array format")
