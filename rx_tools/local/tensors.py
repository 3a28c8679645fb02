"""Float32 tensors as safetensors bytes."""

import json
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def pack(tensors: Mapping[str, Array], note: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file, tensors in the order of their names."""
    header: dict[str, object] = {"__metadata__": dict(note)} if note else {}
    end, parts = 0, []
    for name in sorted(tensors):
        data = np.ascontiguousarray(tensors[name], "<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensors[name].shape),
            "data_offsets": [end, end + len(data)],
        }
        end += len(data)
        parts.append(data)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def unpack(content: bytes) -> tuple[dict[str, Array], dict[str, str]]:
    """Tensors and notes of bytes that `pack` made; `ValueError` when they are damaged."""
    size = int.from_bytes(content[:8], "little")
    if not 0 < size <= len(content) - 8:
        raise ValueError("the header does not fit the file")
    header = json.loads(content[8 : 8 + size])
    note = header.pop("__metadata__", {})
    body, tensors = memoryview(content)[8 + size :], {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(body[begin:end], "<f4").reshape(entry["shape"])
        tensors[name] = array.astype(np.float32)
    return tensors, note
