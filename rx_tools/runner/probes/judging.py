"""Measured updates against their tolerances: one outcome each."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rx_tools.numerics.parity import ParityErrors, root_of_squares
from rx_tools.numerics.tolerance import BLIND_WARNING, Tolerance, lr_scaling_error
from rx_tools.numerics.updates import Tensors
from rx_tools.runner.probes.measuring import Compared
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven

DEFAULT_TOLERANCE = Tolerance(atol=1e-6, rtol=1e-2, min_cosine=0.999)
DEFAULT_SCALING = 0.01
SAME_SCALE = 0.05
"""A norm this far from the reference's contradicts it, whatever the tolerance accepts."""

SAME_DIRECTION = 0.999


def judged_update(
    probe: str, compared: Compared, tolerance: Tolerance, assumptions: Mapping[str, Any]
) -> ProbeResult:
    """One update against its reference. Every tensor and the pool must be accepted.

    `assumptions` of the reference are written beside the figures.
    """
    errors = compared.errors
    figures = {
        **compared.figures(),
        "reference": dict(assumptions),
        "tolerance": {
            "atol": tolerance.atol, "rtol": tolerance.rtol, "min_cosine": tolerance.min_cosine,
        },
    }  # fmt: skip
    if not errors.measured:
        missing = not errors.tensors or "reference is zero" in errors.reason
        answer = unproven if missing else contradicted
        return answer(probe, errors.reason, figures)
    figures["norm_ratio"] = errors.norm_ratio
    figures["blind_scale_error"] = tolerance.blind_scale_error(errors["reference_max_abs"])
    if refused := refused_tensors(errors, tolerance):
        return contradicted(probe, f"{len(refused)} tensors differ, such as {refused[0]}", figures)
    if not abs(errors.norm_ratio - 1) <= SAME_SCALE:
        reason = f"the update has {errors.norm_ratio:.3g} times the reference's norm"
        return contradicted(probe, reason, figures)
    warning = ""
    if figures["blind_scale_error"] > BLIND_WARNING:
        warning = f" (the tolerance alone cannot see {figures['blind_scale_error']:.0%} of scale)"
    return proven(
        probe, f"{len(errors.tensors)} tensors agree with the reference{warning}", figures
    )


def refused_tensors(errors: ParityErrors, tolerance: Tolerance) -> list[str]:
    """The tensors that the tolerance does not accept; `pooled` for the pool."""
    refused = [name for name, each in errors.tensors.items() if not tolerance.accepts(each)]
    return refused if tolerance.accepts(errors) else [*refused, "pooled"]


def reported(errors: ParityErrors, tolerance: Tolerance) -> dict[str, float]:
    """The four figures to record: the pool's, or those of a tensor that is not accepted."""
    refused = [name for name in refused_tensors(errors, tolerance) if name in errors.tensors]
    if not refused:
        return dict(errors)
    worst = max(refused, key=lambda name: errors.tensors[name].get("relative_l2_error", math.inf))
    return dict(errors.tensors[worst])


def judged_scaling(probe: str, steps: Sequence[Compared], rtol: float) -> ProbeResult:
    """Update norms proportional to the rate, and one direction for all rates."""
    probes = [{"learning_rate": each.learning_rate, "update_norm": each.norm} for each in steps]
    error = lr_scaling_error(probes)
    directions = [cosine(steps[0].direction, each.direction) for each in steps]
    figures: dict[str, Any] = {
        "probes": probes,
        "per_factor": [factor_norms(each) for each in steps],
        "scaling_error": error if math.isfinite(error) else None,
        "direction_cosines": directions,
        "rtol": rtol,
    }
    if len(steps) < 2:
        return unproven(probe, "one learning rate shows no scaling", figures)
    if not error <= rtol:
        return contradicted(probe, f"norms per unit of rate differ by {error:.3g}", figures)
    if not min(directions) >= SAME_DIRECTION:
        reason = f"the direction changes with the rate: cosine {min(directions):.4g}"
        return contradicted(probe, reason, figures)
    return proven(probe, f"norm and direction follow the rate within {error:.2g}", figures)


def factor_norms(step: Compared) -> dict[str, float]:
    """Learning rate, and the norms of all A and of all B."""
    norms = {"learning_rate": step.learning_rate}
    for factor in ("lora_A", "lora_B"):
        parts = [v for name, v in step.direction.items() if factor in name]
        norms[factor] = math.hypot(*map(root_of_squares, parts))
    return norms


def cosine(left: Tensors, right: Tensors) -> float:
    """The cosine of two updates as one long vector; −1 where it is undefined."""
    dot = math.fsum(float(np.vdot(left[name], right[name])) for name in left)
    norms = [math.hypot(*map(root_of_squares, side.values())) for side in (left, right)]
    scale = norms[0] * norms[1]
    return dot / scale if scale > 0 else -1.0
