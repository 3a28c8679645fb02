"""One update of the service and its reference, from the same adapter state and gradient.

Four kinds of throw-away models start from one saved state: one step of AdamW with a huge epsilon
shows the gradient (`numerics/adamw.py: gradient_of_step`), the others take the steps under test.
A wide stored type lets the state have B ≠ 0, so that A is exercised as well; with bfloat16 only
the updates of B from B = 0 survive the rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rx_tools.errors import IntegrityError
from rx_tools.evidence.tensors import safetensors_bytes
from rx_tools.model.names import CheckpointUri, Sha256
from rx_tools.numerics.adamw import gradient_of_step
from rx_tools.numerics.parity import ParityErrors, parity_errors
from rx_tools.numerics.updates import ReferenceOptimizer, Tensors, global_norm
from rx_tools.runner.probes.bench import Bench
from rx_tools.runner.probes.export import Adapter, export, is_b
from rx_tools.runner.probes.references import GRADIENT, PinnedUpdates
from rx_tools.runner.service import Datum, Model, OptimizerConfig

REVEALING_EPS = 1e3
REVEALING = OptimizerConfig(
    "adamw",
    {"beta1": 0.9, "beta2": 0.95, "eps": REVEALING_EPS, "weight_decay": 0.0, "grad_clip_norm": 0.0},
)
REVEALING_RATE = 1e4 * REVEALING_EPS
"""Moves a weight by ten thousand times its gradient, so that the old value is rounded away."""

INPUTS = "reference-inputs.safetensors"
"""The private file from which a pinned reference is computed."""

OPENING = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})
OPENING_RATE = 1e-3


@dataclass(frozen=True, slots=True)
class Start:
    """A saved state, its adapter, the gradient of the batch there, and the tensors that count."""

    uri: CheckpointUri
    adapter: Adapter
    gradient: Tensors
    names: tuple[str, ...]

    def only(self, tensors: Mapping[str, Any]) -> Tensors:
        """The tensors that count."""
        return {name: tensors[name] for name in self.names}

    @property
    def parameters(self) -> Tensors:
        """The adapter's tensors that count, in float64."""
        return self.only(self.adapter.parameters())

    def inputs(self) -> bytes:
        """What another reference needs to compute its update: parameters and gradient."""
        named = {f"parameter:{name}": values for name, values in self.parameters.items()}
        named |= {f"{GRADIENT}{name}": values for name, values in self.gradient.items()}
        return safetensors_bytes({n: values.astype(np.float32) for n, values in named.items()})


@dataclass(frozen=True, slots=True)
class Compared:
    """An update and its reference at one rate; tensors that neither moved are set aside."""

    learning_rate: float
    errors: ParityErrors
    norm: float
    direction: Tensors
    unmoved: tuple[str, ...]

    def figures(self) -> dict[str, Any]:
        """Plain JSON."""
        worst = min(
            (each["cosine_similarity"] for each in self.errors.tensors.values() if each.measured),
            default=None,
        )
        return {
            "learning_rate": self.learning_rate,
            **self.errors.as_dict(),
            "update_norm": self.norm,
            "worst_tensor_cosine": worst,
            "tensors": len(self.errors.tensors),
            "unmoved": list(self.unmoved),
        }


def open_start(bench: Bench) -> Start:
    """Save a state to start from, and find the gradient there."""
    with bench.model(OPENING) as model:
        adapter = export(bench, model, "start-fresh")
        if adapter.is_wide:
            bench.step(model, OPENING_RATE, optimizer=OPENING)
            adapter = export(bench, model, "start")
        uri = model.save_state("rx-probe-start", overwrite=True).result()
    names = tuple(name for name in sorted(adapter.tensors) if adapter.is_wide or is_b(name))
    gradient = revealed_gradient(bench, uri, adapter.sha256)
    start = Start(uri, adapter, {name: gradient[name] for name in names}, names)
    (bench.folder / INPUTS).write_bytes(start.inputs())
    return start


def revealed_gradient(
    bench: Bench, uri: CheckpointUri, expected: Sha256, batch: Sequence[Datum] | None = None
) -> Tensors:
    """The gradient of a batch at a saved state, from one AdamW step with a huge epsilon."""
    with bench.restored(uri, with_optimizer=False, optimizer=REVEALING) as model:
        before = same_state(export(bench, model, "gradient-before"), expected)
        bench.step(model, REVEALING_RATE, optimizer=REVEALING, batch=batch)
        update = before.update_to(export(bench, model, "gradient-after"))
    return gradient_of_step(update, REVEALING_RATE, REVEALING_EPS)


def same_state(adapter: Adapter, expected: Sha256) -> Adapter:
    """The adapter, if it is the expected one; raises `IntegrityError` otherwise."""
    if adapter.sha256 != expected:
        raise IntegrityError(
            f"loading a saved state gave another adapter: {adapter.sha256[:12]}…,"
            f" saved was {expected[:12]}…"
        )
    return adapter


def taken_update(
    bench: Bench, start: Start, optimizer: OptimizerConfig, learning_rate: float
) -> Tensors:
    """The update of one step from the start, with fresh optimizer state."""
    with bench.restored(start.uri, with_optimizer=False, optimizer=optimizer) as model:
        return stepped(bench, model, start, optimizer, learning_rate)


def stepped(
    bench: Bench, model: Model, start: Start, optimizer: OptimizerConfig, learning_rate: float
) -> Tensors:
    """One step of a model that stands at the start, and what it added to the weights."""
    before = same_state(export(bench, model, "step-before"), start.adapter.sha256)
    bench.step(model, learning_rate, optimizer=optimizer)
    return start.only(before.update_to(export(bench, model, "step-after")))


def expected_update(
    start: Start, reference: ReferenceOptimizer[Any] | PinnedUpdates, learning_rate: float
) -> Tensors:
    """The reference's first update from the start."""
    if isinstance(reference, PinnedUpdates):
        return start.only(reference.update_for(start.gradient, learning_rate))
    state = reference.fresh(start.parameters)
    return reference.step(state, start.parameters, start.gradient, learning_rate)[0]


def compare(actual: Tensors, expected: Tensors, learning_rate: float) -> Compared:
    """Parity figures of the tensors that at least one of the two moved."""
    moved = [name for name in sorted(expected) if actual[name].any() or expected[name].any()]
    errors = parity_errors(
        {name: actual[name] for name in moved}, {name: expected[name] for name in moved}
    )
    unmoved = tuple(name for name in sorted(expected) if name not in moved)
    return Compared(learning_rate, errors, global_norm(actual), actual, unmoved)


def compared_steps(
    bench: Bench, start: Start, optimizer: OptimizerConfig,
    reference: ReferenceOptimizer[Any] | PinnedUpdates, learning_rates: Sequence[float],
) -> list[Compared]:  # fmt: skip
    """One compared update per rate, each from the same state with fresh optimizer state.

    A pinned reference holds one rate only; the others are measured without a reference.
    """
    steps = []
    for rate in learning_rates:
        actual = taken_update(bench, start, optimizer, rate)
        foreign = isinstance(reference, PinnedUpdates) and reference.learning_rate != rate
        expected = actual if foreign else expected_update(start, reference, rate)
        steps.append(compare(actual, expected, rate))
    return steps


def second_step(
    bench: Bench, start: Start, optimizer: OptimizerConfig, reference: ReferenceOptimizer[Any],
    learning_rate: float,
) -> Compared:  # fmt: skip
    """The update after the first, on other data: only the right momentum and betas explain it."""
    last = bench.batch[len(bench.batch) // 2 :]
    with bench.restored(start.uri, with_optimizer=False, optimizer=optimizer) as model:
        same_state(export(bench, model, "second-start"), start.adapter.sha256)
        bench.step(model, learning_rate, optimizer=optimizer)
        middle = export(bench, model, "second-before")
        uri = model.save_state("rx-probe-second", overwrite=True).result()
        bench.step(model, learning_rate, optimizer=optimizer, batch=last)
        actual = start.only(middle.update_to(export(bench, model, "second-after")))
    gradient = start.only(revealed_gradient(bench, uri, middle.sha256, last))
    state = reference.fresh(start.parameters)
    _, state = reference.step(state, start.parameters, start.gradient, learning_rate)
    parameters = start.only(middle.parameters())
    expected, _ = reference.step(state, parameters, gradient, learning_rate)
    return compare(actual, expected, learning_rate)
