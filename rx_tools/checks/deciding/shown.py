"""A decision as JSON: every number unrounded, nothing that is not finite."""

from typing import Any

from rx_tools.checks.deciding.criterion import CriterionResult
from rx_tools.checks.deciding.decide import Decision


def criterion_entry(criterion: CriterionResult) -> dict[str, Any]:
    """One criterion; seeds become strings because they are keys."""
    has_interval = criterion.low is not None and criterion.high is not None
    return {
        "id": criterion.id,
        "metric": criterion.metric,
        "margin": criterion.margin,
        "n": criterion.n,
        "df": criterion.df,
        "comparisons": criterion.k,
        "mean": criterion.mean,
        "sd": criterion.sd,
        "se": criterion.se,
        "tcrit": criterion.tcrit if has_interval else None,
        "half_width": criterion.half_width,
        "low": criterion.low,
        "high": criterion.high,
        "interval": [criterion.low, criterion.high] if has_interval else None,
        "reading_margin": criterion.reading_margin.value if has_interval else None,
        "reading_band": criterion.reading_band.value if has_interval else None,
        "seed_effects": {str(seed): value for seed, value in criterion.contrasts.items()},
    }


def decision_entry(decision: Decision) -> dict[str, Any]:
    """The whole decision."""
    tested = decision.tested
    return {
        "verdict": decision.verdict,
        "outcome_reason": decision.outcome_reason,
        "reading_conflict": decision.reading_conflict,
        "readings": {
            "margin": [decision.margin_reading.verdict, decision.margin_reading.reason],
            "band": [decision.band_reading.verdict, decision.band_reading.reason],
        },
        "tested": [tested.verdict, tested.reason] if tested else None,
        "issues": [
            {"code": issue.code, "name": issue.name, "message": str(issue), "place": issue.place}
            for issue in decision.issues
        ],
        "warnings": list(decision.warnings),
        "criteria": [criterion_entry(criterion) for criterion in decision.criteria],
    }
