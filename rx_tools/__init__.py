"""Validate, run and pack pre-registered fine-tuning experiments.

Every public name loads on first use, so that `import rx_tools` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

PUBLIC: dict[str, str] = {
    "lr_scaling_error": "rx_tools.numerics.tolerance",
    "parity_errors": "rx_tools.numerics.parity",
    "stable_rank": "rx_tools.numerics.spectrum",
    "LossEval": "rx_tools.checks.loss_record",
    "decide": "rx_tools.checks.deciding.decide",
    "evaluator_id": "rx_tools.checks.evaluator_id",
    "is_loss_metric": "rx_tools.checks.loss_record",
    "loss_check": "rx_tools.checks.loss_record",
    "loss_report": "rx_tools.checks.loss_record",
    "requested_aggregation": "rx_tools.checks.loss_record",
    "answer_agreement": "rx_tools.checks.answers",
    "check_applicability": "rx_tools.checks.applicability",
    "evaluation_overlap": "rx_tools.checks.audit_sample",
    "select_sample": "rx_tools.checks.audit_sample",
    "validate": "rx_tools.checks.validation",
}
"""Public name → the module that holds it."""


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'rx_tools' has no attribute {name!r}")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*PUBLIC, "__version__"])
