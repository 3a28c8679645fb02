"""What a tolerance accepts, what it cannot see, and which reported figures cannot be true.

Needs no numpy, so that judging documents stays quick.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

ROUNDING = 1e-6
"""Slack for cosines that somebody measured or printed in single precision."""

BLIND_WARNING = 0.05


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`atol` and `rtol` of the largest deviation, and an optional smallest cosine."""

    atol: float = 0.0
    rtol: float = 0.0
    min_cosine: float | None = None

    def limit(self, reference_max_abs: float) -> float:
        """The largest accepted deviation."""
        return self.atol + self.rtol * reference_max_abs

    def accepts(self, errors: Mapping[str, Any]) -> bool:
        """Whether measured figures lie within it; NaN, missing or impossible figures do not."""
        if inconsistency(errors):
            return False
        close = errors["max_abs_error"] <= self.limit(errors["reference_max_abs"])
        return close and (self.min_cosine is None or errors["cosine_similarity"] >= self.min_cosine)

    def blind_scale_error(self, reference_max_abs: float) -> float:
        """The largest pure scale error that it cannot see: atol / max|reference| + rtol.

        0.5 means that a halved update passes; the cosine never sees scale.
        """
        if reference_max_abs > 0.0:
            return self.atol / reference_max_abs + self.rtol
        return math.nan


FIGURES = ("max_abs_error", "reference_max_abs", "relative_l2_error", "cosine_similarity")


def inconsistency(errors: Mapping[str, Any]) -> str:
    """Why four reported figures cannot belong to one measurement; empty where they can.

    With ε the relative L2 error and c the cosine: the angle between actual and reference is at
    most asin ε, so c² ≥ 1 − ε² and c > 0 for ε < 1; the largest error is 0 exactly when ε is.
    """
    for name in FIGURES:
        if not is_real(errors.get(name)):
            return f"{name} is not a finite number"
    largest, top, relative, cosine = (float(errors[name]) for name in FIGURES)
    complaints = {
        "an error is negative": largest < 0 or relative < 0,
        "reference_max_abs is not positive: the path was not exercised": not top > 0,
        "cosine_similarity is outside [-1, 1]": not abs(cosine) <= 1 + ROUNDING,
        "max_abs_error and relative_l2_error must be zero together": (largest > 0)
        != (relative > 0),
        f"cosine_similarity {cosine:.9g} is impossible at relative_l2_error {relative:.6g}": (
            not cosine >= smallest_cosine(relative) - ROUNDING
        ),
    }
    return next((complaint for complaint, applies in complaints.items() if applies), "")


def smallest_cosine(relative: float) -> float:
    """The smallest cosine that a relative L2 error leaves possible."""
    return math.sqrt(1 - relative**2) if 0 <= relative < 1 else -1.0


def lr_scaling_error(probes: Sequence[Mapping[str, Any]]) -> float:
    """How far update norms are from proportional to the learning rate.

    max over probes of |(update_norm / learning_rate) / (the first probe's) − 1|. `update_norm` is
    a number, or a mapping of factor names to numbers, of which the worst counts. NaN, which no
    `error <= rtol` accepts, for anything that is no evidence: no probes, a figure that is missing,
    zero, negative, not finite or not a number.

    Example: `lr_scaling_error([{"learning_rate": 1e-4, "update_norm": 1e-3},
    {"learning_rate": 1e-2, "update_norm": 0.101}])` is 0.01.
    """
    rows = [normalized(probe) for probe in probes]
    if not rows or not all(rows) or any(set(row) != set(rows[0]) for row in rows):
        return math.nan
    errors = [abs(row[name] / rows[0][name] - 1) for row in rows for name in row]
    return max(errors) if all(map(math.isfinite, errors)) else math.nan


def normalized(probe: Mapping[str, Any]) -> dict[str, float]:
    """Factor name → update norm per unit of learning rate; empty where that is undefined."""
    rate, norm = probe.get("learning_rate"), probe.get("update_norm")
    norms = norm if isinstance(norm, Mapping) else {"": norm}
    if not is_positive(rate) or not all(map(is_positive, norms.values())):
        return {}
    per_unit = {
        str(name): float(cast(float, value)) / float(cast(float, rate))
        for name, value in norms.items()
    }
    return per_unit if all(map(is_positive, per_unit.values())) else {}


def is_real(value: object) -> bool:
    """A finite real number of any type, numpy's included; booleans are none."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_positive(value: object) -> bool:
    """A finite number above zero."""
    return is_real(value) and float(cast(float, value)) > 0
