"""Every check by module, in the order of reports; nothing is found by scanning."""

from functools import cache
from importlib import import_module

from rx_tools.checks.judge import Judge

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
    "rx_tools.checks.spec_rules.observations",
)
RECORD_RULES = (
    "rx_tools.checks.record_rules.verdict",
    "rx_tools.checks.record_rules.capacity",
    "rx_tools.checks.record_rules.summary",
    "rx_tools.checks.record_rules.deviations",
    "rx_tools.checks.record_rules.arms",
    "rx_tools.checks.record_rules.identities",
    "rx_tools.checks.record_rules.timing",
)
UPDATE_RULES = ("rx_tools.checks.record_rules.updates",)
GATES = (
    "rx_tools.checks.correctness",
    "rx_tools.checks.restoration",
    "rx_tools.checks.activation",
    "rx_tools.checks.feasibility",
    "rx_tools.checks.generation_audit",
    "rx_tools.checks.evaluator",
    "rx_tools.checks.loss_eval",
    "rx_tools.checks.decision",
    "rx_tools.checks.evidence",
    "rx_tools.checks.record",
)
"""The modules of the gates, for their manual pages; `checks.validation` calls their judges."""

ALL = (*SPEC_RULES, *RECORD_RULES, *UPDATE_RULES, *GATES)

OTHER_PAGES = (
    "rx_tools.evidence.strict_json",
    "rx_tools.checks.shape",
    "rx_tools.evidence.ledger_rules",
)
"""Modules that report codes of their own without being a check of this list."""


@cache
def judge_of(module: str) -> Judge:
    """The `judge` of a family of rules, imported on first use."""
    judge: Judge = import_module(module).judge
    return judge
