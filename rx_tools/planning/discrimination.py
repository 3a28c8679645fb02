"""What a spec's tolerances and ranges cannot tell apart, found before anything runs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from rx_tools.model.gates_of_spec import ActivationCheck, ActivationGate, CorrectnessPreflight
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer
from rx_tools.model.json_path import below
from rx_tools.numerics.tolerance import BLIND_WARNING, Tolerance
from rx_tools.planning.optimizers import service_name

TYPICAL_ROWS = 2048
"""Rows of B assumed where a spec says nothing of the model's width."""

POLAR_EXPRESS_STABLE_RANK = (0.74, 0.85)
"""What five iterations give on a full batch; 1 only after many more."""

STABLE_RANK = "stable_rank"
STEP_TYPE = "optimizer_step_type"


@dataclass(frozen=True, slots=True)
class Advice:
    """One weakness of a spec: where, what it cannot see, and the figures behind the sentence."""

    json_path: str
    message: str
    figures: Mapping[str, Any]


def discrimination_advice(spec: JsonObject, *, rows: int = TYPICAL_ROWS) -> tuple[Advice, ...]:
    """Every tolerance, range and list of the spec that cannot discriminate.

    `rows` is the number of rows of LoRA B that the figures assume; each message says so.
    """
    rank = spec.get("lora_rank")
    return (
        *blind_tolerances(spec, rows, rank if is_integer(rank) and rank > 0 else 32),
        *weak_ranges(spec, rows, rank if is_integer(rank) and rank > 0 else 32),
    )


def blind_tolerances(spec: JsonObject, rows: int, rank: int) -> Iterator[Advice]:
    """Tolerances of optimizer paths that a wrong scale of more than 5 % would pass."""
    section = CorrectnessPreflight.of(spec.get("correctness_preflight"))
    for number, path in enumerate(section.paths):
        if path.kind != "optimizer":
            continue
        for name, view in path.tolerances.items():
            if view.atol is None or view.rtol is None:
                continue
            largest = 1.0 if "baseline" in name else largest_of_orthogonal(rows, rank)
            tolerance = Tolerance(view.atol, view.rtol, view.min_cosine)
            blind = {
                rate: tolerance.blind_scale_error(largest * rate)
                for rate in sorted(path.learning_rates) or rates_of(spec)
                if rate > 0
            }
            place = below("$", "correctness_preflight", "paths", number, "tolerances", name)
            if any(error > BLIND_WARNING for error in blind.values()):
                yield blind_advice(place, name, tolerance, blind, f"{rows} × {rank}")


def blind_advice(
    place: str, name: str, tolerance: Tolerance, blind: Mapping[float, float], matrix: str
) -> Advice:
    """The sentence about one tolerance."""
    worst = max(blind.values())
    listed = ", ".join(f"{100 * error:.3g} % at {rate:g}" for rate, error in blind.items())
    halved = "; a halved update passes" if worst >= 0.5 else ""
    message = (
        f"{name}: atol {tolerance.atol:g} and rtol {tolerance.rtol:g} cannot see a pure scale"
        f" error of {listed} (first update of a {matrix} matrix){halved}; no cosine sees scale."
        f" Compare at {max(blind):g}, or lower atol"
    )
    return Advice(place, message, {"blind_scale_error": {f"{r:g}": e for r, e in blind.items()}})


def largest_of_orthogonal(rows: int, rank: int) -> float:
    """About the largest element of a random rows × rank matrix with orthonormal columns.

    Its elements are nearly normal with variance 1 / rows; the largest of n lies near the quantile
    1 − 1 / 2n. 2048 × 32 gives 0.096.
    """
    return NormalDist().inv_cdf(1 - 1 / (2 * rows * rank)) / math.sqrt(rows)


def rates_of(spec: JsonObject) -> Sequence[float]:
    """The learning rates that the arms name."""
    rates = {as_object(arm).get("lr") for arm in as_list(spec.get("arms"))}
    return sorted(rate for rate in rates if isinstance(rate, float))


def weak_ranges(spec: JsonObject, rows: int, rank: int) -> Iterator[Advice]:
    """Activation checks that the wrong optimizer would satisfy, or the right one would not."""
    gate = ActivationGate.of(spec.get("activation_gate"))
    types = optimizer_types(spec)
    for number, check in enumerate(gate.checks):
        place = below("$", "activation_gate", "checks", number)
        metric = check.metric or ""
        if STABLE_RANK in metric:
            yield from stable_rank_advice(place, check, rows, rank)
        if check.one_of is not None and len(types) > 1 and "optimizer" in metric:
            yield from one_of_advice(place, metric, check.one_of, types)


def stable_rank_advice(
    place: str, check: ActivationCheck, rows: int, rank: int
) -> Iterator[Advice]:
    """A range that AdamW reaches, or that five Polar Express iterations miss."""
    low = -math.inf if check.min is None else check.min
    high = math.inf if check.max is None else check.max
    signs = sign_matrix_stable_rank(rows, rank)
    if low <= signs <= high:
        message = (
            f"{check.metric}: a first AdamW update without structure has {signs:.2f}"
            f" ({rows} × {rank}), inside the range: AdamW would pass. Measured on structured"
            " gradients it has about 0.30 at rank 32 and 0.6 to 0.9 at rank 8. Beside it,"
            f" ‖dB‖_F / (lr·√rank) tells them apart: about 1 for a matrix sign,"
            f" {math.sqrt(rows):.0f} for AdamW"
        )
        yield Advice(place, message, {"adamw_without_structure": signs})
    typical = POLAR_EXPRESS_STABLE_RANK
    if not (low <= typical[0] and typical[1] <= high):
        message = (
            f"{check.metric}: five Polar Express iterations give {typical[0]} to {typical[1]} on a"
            " full batch, not 1: the range refuses a right optimizer"
        )
        yield Advice(place, message, {"polar_express": list(typical)})


def sign_matrix_stable_rank(rows: int, rank: int) -> float:
    """The normalized stable rank of a random sign matrix: 1 / (1 + √(rank / rows))²."""
    return 1 / (1 + math.sqrt(rank / rows)) ** 2


def one_of_advice(
    place: str, metric: str, allowed: Sequence[Any], types: set[str]
) -> Iterator[Advice]:
    """A list of step types that every optimizer of the experiment satisfies."""
    named = {kind for kind in types for value in allowed if kind in step_type(value)}
    if len(named) < 2:
        return
    message = (
        f"{metric}: one_of holds the step types of {' and '.join(sorted(named))}: it passes when"
        " every arm runs the same one. Compare each arm with what that arm declares"
    )
    yield Advice(place, message, {"satisfied_by": sorted(named)})


def step_type(value: Any) -> str:
    """A step type's name in lower case, with `adam` spelled as the service does."""
    lowered = as_text(value).lower()
    return lowered.replace("adam", "adamw") if "adamw" not in lowered else lowered


def optimizer_types(spec: JsonObject) -> set[str]:
    """The optimizer types of the arms, as the service names them."""
    named = [as_object(arm).get("optimizer") for arm in as_list(spec.get("arms"))]
    named.append(as_object(spec.get("optimizer")).get("name"))
    return {service_name(as_text(name)) for name in named if as_text(name)}
