"""Weights of a throw-away model, where the service exports them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.evidence.tensors import adapter_digest, load_tensors, open_tensors
from rx_tools.model.names import Sha256
from rx_tools.numerics.updates import Tensors, difference
from rx_tools.runner.probes.bench import Bench
from rx_tools.runner.service import Model

MISSING = (
    "the service exports no weights: the update itself cannot be seen; measure it where weights"
    " can be read and hand the evidence file in"
)
WIDE = {"F32", "F64"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """An exported adapter: tensors by name, their digest, and the types they are stored in."""

    tensors: Mapping[str, NDArray[Any]]
    sha256: Sha256
    types: frozenset[str]

    @property
    def is_wide(self) -> bool:
        """Whether small updates of non-zero weights survive the stored type."""
        return self.types <= WIDE

    def update_to(self, after: "Adapter") -> Tensors:
        """What was added to it, in float64."""
        return difference(after.tensors, self.tensors)

    def parameters(self) -> Tensors:
        """The tensors in float64."""
        return {name: values.astype(np.float64) for name, values in self.tensors.items()}


def export(bench: Bench, model: Model, name: str) -> Adapter:
    """The model's weights now; the downloaded files are deleted at once.

    Raises `NotOfferedError` where the service exports none.
    """
    with TemporaryDirectory(dir=bench.folder, prefix=f"{name}-") as place:
        folder = Path(place)
        model.download_weights(name, folder)
        with open_tensors(folder) as tensors:
            types = frozenset(tensor.dtype for tensor in tensors.values())
        return Adapter(load_tensors(folder), adapter_digest(folder), types)


def is_b(name: str) -> bool:
    """Whether a tensor is the factor B of a LoRA pair, zero at the start."""
    return "lora_B" in name
