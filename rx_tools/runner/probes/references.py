"""Which reference an optimizer is compared with: one of ours, or a pinned file of updates."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rx_tools.errors import DocumentError, IntegrityError, UnverifiedError
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.strict_json import read_document
from rx_tools.evidence.tensors import load_tensors
from rx_tools.model.json import as_object, as_text, is_number
from rx_tools.numerics import adamw, dimuon_lite
from rx_tools.numerics.adamw import AdamW
from rx_tools.numerics.dimuon_lite import DimuonLite
from rx_tools.numerics.parity import parity_errors
from rx_tools.numerics.updates import ReferenceOptimizer, Tensors
from rx_tools.runner.probes.echo import same
from rx_tools.runner.service import OptimizerConfig

PINNED_SCHEMA = "urn:rx:schema:reference-updates:1"
GRADIENT, UPDATE = "gradient:", "update:"
SENT_ADAMW = {**adamw.DEFAULTS, "eps": 1e-12}
"""What the SDK sends where an arm is silent; its epsilon is not the one that specs name."""

SAME_GRADIENT = 1e-2
"""Relative L2 distance up to which a pinned gradient counts as the measured one."""


def reference_for(optimizer: OptimizerConfig) -> ReferenceOptimizer[Any] | None:
    """Our own reference of an optimizer with its parameters; None where there is none.

    Raises `UnverifiedError` for a parameter that the reference does not know: it is not ignored.
    """
    match same(optimizer.type):
        case "adamw":
            return AdamW(**known(optimizer, SENT_ADAMW))
        case "dimuon":
            parameters = known(optimizer, dimuon_lite.DEFAULTS)
            return DimuonLite(parameters["beta1"], parameters["grad_clip_norm"])
        case _:
            return None


def known(optimizer: OptimizerConfig, defaults: Mapping[str, float]) -> dict[str, float]:
    """The optimizer's parameters over the defaults."""
    if unknown := sorted(set(optimizer.parameters) - set(defaults)):
        raise UnverifiedError(
            f"the reference of {optimizer.type} does not know the parameter {unknown[0]!r}"
        )
    return {**defaults, **{name: float(value) for name, value in optimizer.parameters.items()}}


@dataclass(frozen=True, slots=True)
class PinnedUpdates:
    """A reference that was computed elsewhere: one gradient and its update at one rate."""

    optimizer: str
    name: str
    revision: str
    learning_rate: float
    gradient: Tensors
    update: Tensors
    sha256: str

    @property
    def assumptions(self) -> Mapping[str, Any]:
        """What is known of it, as plain JSON."""
        return {
            "name": self.name,
            "revision": self.revision,
            "learning_rate": self.learning_rate,
            "updates_sha256": self.sha256,
            "note": "computed elsewhere, not measured here",
        }

    def update_for(self, gradient: Tensors, learning_rate: float) -> Tensors:
        """The pinned update; raises `UnverifiedError` for another gradient or rate."""
        if learning_rate != self.learning_rate:
            raise UnverifiedError(
                f"the pinned updates are for rate {self.learning_rate}, not {learning_rate}"
            )
        errors = parity_errors(gradient, self.gradient)
        if not (errors.measured and errors["relative_l2_error"] <= SAME_GRADIENT):
            raise UnverifiedError(
                "the pinned updates belong to another gradient",
                where=errors.reason or f"relative distance {errors['relative_l2_error']:.3g}",
            )
        return self.update


def read_pinned(path: Path) -> PinnedUpdates:
    """Read a pinned reference: a JSON file beside the tensor file that it names.

    The JSON holds `schema`, `optimizer` (the type that it is the reference of), `name`,
    `revision`, `learning_rate`, `updates` (a file name) and `updates_sha256`. The tensor file
    holds `gradient:<tensor>` and `update:<tensor>` for every LoRA tensor.
    Raises `DocumentError`, or `IntegrityError` when the digest differs.
    """
    document = as_object(read_document(path).value)
    if document.get("schema") != PINNED_SCHEMA or not is_number(document.get("learning_rate")):
        raise DocumentError("not a pinned reference of updates", where=str(path))
    file = path.parent / Path(as_text(document.get("updates"))).name
    digest = sha256_file(file)
    if digest != document.get("updates_sha256"):
        raise IntegrityError("the updates are not the pinned ones", where=str(file))
    tensors = load_tensors(file)
    return PinnedUpdates(
        optimizer=as_text(document.get("optimizer")),
        name=as_text(document.get("name")),
        revision=as_text(document.get("revision")),
        learning_rate=float(document["learning_rate"]),
        gradient=section(tensors, GRADIENT),
        update=section(tensors, UPDATE),
        sha256=digest,
    )


def section(tensors: Mapping[str, Any], prefix: str) -> Tensors:
    """The tensors whose names begin with a prefix, without it, in float64."""
    return {
        name.removeprefix(prefix): values.astype(np.float64)
        for name, values in tensors.items()
        if name.startswith(prefix)
    }
