"""Every check by module, in the order of reports; nothing is found by scanning."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TypeAlias

from rx_tools.model.evidence import Evidence
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result
from rx_tools.model.spec import Spec

Judge: TypeAlias = Callable[[Spec, Record, Evidence], Result]

SPEC_RULES = (
    "rx_tools.checks.spec_rules.completeness",
    "rx_tools.checks.spec_rules.arms",
    "rx_tools.checks.spec_rules.grids",
    "rx_tools.checks.spec_rules.groups",
    "rx_tools.checks.spec_rules.rule",
    "rx_tools.checks.spec_rules.activation",
    "rx_tools.checks.spec_rules.features",
    "rx_tools.checks.spec_rules.budget",
    "rx_tools.checks.spec_rules.command",
    "rx_tools.checks.spec_rules.evaluation",
)
RECORD_RULES = (
    "rx_tools.checks.record_rules.verdict",
    "rx_tools.checks.record_rules.capacity",
    "rx_tools.checks.record_rules.summary",
    "rx_tools.checks.record_rules.deviations",
    "rx_tools.checks.record_rules.arms",
    "rx_tools.checks.record_rules.scores",
    "rx_tools.checks.record_rules.timing",
)
UPDATE_RULES = ("rx_tools.checks.record_rules.updates",)
GATES: Mapping[Gate, str] = {
    Gate.CORRECTNESS: "rx_tools.checks.correctness",
    Gate.RESTORATION: "rx_tools.checks.restoration",
    Gate.ACTIVATION: "rx_tools.checks.activation",
    Gate.FEASIBILITY: "rx_tools.checks.feasibility",
    Gate.GENERATION_AUDIT: "rx_tools.checks.generation_audit",
    Gate.EVALUATOR: "rx_tools.checks.evaluator",
}
ALL = (*SPEC_RULES, *RECORD_RULES, *UPDATE_RULES, *GATES.values())

OTHER_PAGES = ("rx_tools.evidence.strict_json", "rx_tools.checks.shape")
"""Modules that report codes of their own without being a check of this list."""


@cache
def judge_of(module: str) -> Judge:
    """The `judge` of a check, imported on first use."""
    judge: Judge = import_module(module).judge
    return judge
