"""Tensor files: opened, read in pieces, digested, written. Nothing is mapped into memory."""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rx_tools.errors import DocumentError, UsageError
from rx_tools.evidence.npz_file import read_members
from rx_tools.evidence.safetensors_file import read_header
from rx_tools.model.names import Sha256
from rx_tools.numerics.parity import ParityErrors, compare_sources

WRITTEN = {"f8": "F64", "f4": "F32", "f2": "F16"}


class FileTensor(Protocol):
    """A tensor in an open file: a `TensorSource` that also knows its type and raw bytes."""

    @property
    def dtype(self) -> str:
        """The element type by its safetensors name, such as `BF16`."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        ...

    @property
    def size(self) -> int:
        """The number of elements."""
        ...

    def piece(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop` as floats, exact."""
        ...

    def raw(self) -> Iterator[bytes]:
        """Row-major little-endian bytes, in pieces."""
        ...


@contextmanager
def open_tensors(path: Path) -> Iterator[Mapping[str, FileTensor]]:
    """The tensors of a `.safetensors` or `.npz` file, or of the adapter in a folder.

    In a folder these are its `adapter_model*.safetensors`, else all its `.safetensors`.

    Raises `DocumentError` with one line for a damaged or hostile file, `UsageError` for another
    kind of file. The tensors can be read only inside the `with`.
    """
    with ExitStack() as stack:
        tensors: dict[str, FileTensor] = {}
        for part in parts(Path(path)):
            found = open_part(part, stack)
            if twice := sorted(set(found) & set(tensors)):
                raise DocumentError(f"tensor {twice[0]!r} is in two files", where=str(path))
            tensors.update(found)
        yield tensors


def parts(path: Path) -> list[Path]:
    """The files that hold the tensors."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("adapter_model*.safetensors")) or sorted(path.glob("*.safetensors"))
    if not found:
        raise UsageError("no .safetensors file in this folder", where=str(path))
    return found


def open_part(path: Path, stack: ExitStack) -> Mapping[str, FileTensor]:
    """The tensors of one file, open until the stack unwinds."""
    if path.suffix == ".safetensors":
        handle = stack.enter_context(FileIO(str(path)))
        return read_header(handle, path)
    if path.suffix == ".npz":
        try:
            archive = stack.enter_context(zipfile.ZipFile(path))
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise DocumentError(f"not an .npz archive: {error}", where=str(path)) from None
        return read_members(archive, path)
    raise UsageError(
        "neither .safetensors nor .npz", where=str(path), hint="convert the file first"
    )


def compare_files(actual: Path, reference: Path) -> ParityErrors:
    """Parity errors of two tensor files, read side by side in pieces."""
    with open_tensors(actual) as left, open_tensors(reference) as right:
        return compare_sources(left, right)


def load_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """All tensors in memory, as float16, float32 or float64, bfloat16 widened: for adapters."""
    with open_tensors(path) as tensors:
        return {
            name: np.array(tensor.piece(0, tensor.size)).reshape(tensor.shape)
            for name, tensor in tensors.items()
        }


def adapter_digest(path: Path) -> Sha256:
    """SHA-256 of an adapter's content, whatever file layout carries it.

    Over tensors sorted by name: name in UTF-8, NUL, type (`F32`, `BF16`, …), NUL, shape as a
    decimal comma list, NUL, raw row-major little-endian bytes.
    """
    digest = hashlib.sha256()
    with open_tensors(path) as tensors:
        if not tensors:
            raise DocumentError("holds no tensor", where=str(path))
        for name in sorted(tensors):
            tensor = tensors[name]
            shape = ",".join(map(str, tensor.shape))
            digest.update(f"{name}\0{tensor.dtype}\0{shape}\0".encode())
            for piece in tensor.raw():
                digest.update(piece)
    return Sha256(digest.hexdigest())


def safetensors_bytes(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """The tensors as a `.safetensors` file: names sorted, little-endian, no metadata.

    Takes float16, float32 and float64. The same tensors always give the same bytes.
    """
    header: dict[str, Any] = {}
    bodies: list[bytes] = []
    position = 0
    for name in sorted(tensors):
        values = np.asarray(tensors[name], order="C")
        kind = WRITTEN[values.dtype.str[1:]]
        body = values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(values.shape),
            "data_offsets": [position, position + len(body)],
        }
        position += len(body)
        bodies.append(body)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *bodies])
