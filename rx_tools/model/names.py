"""Names that must not be mixed up."""

from enum import StrEnum
from typing import NewType

Sha256 = NewType("Sha256", str)
"""Sixty-four lower-case hexadecimal digits."""

CheckpointUri = NewType("CheckpointUri", str)
"""A reference such as `tinker://<run>/weights/<name>`; never a copy of the weights."""

ArmName = NewType("ArmName", str)
Role = NewType("Role", str)


class Gate(StrEnum):
    """The gates, in the order in which every report shows them."""

    CORRECTNESS = "correctness_preflight"
    RESTORATION = "restoration_preflight"
    ACTIVATION = "activation_gate"
    FEASIBILITY = "feasibility"
    GENERATION_AUDIT = "generation_audit"
    EVALUATOR = "evaluator"
    LOSS_EVAL = "loss_eval"
    DECISION = "decision_rule"
    EVIDENCE = "evidence"
    RECORD = "record"
