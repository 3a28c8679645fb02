"""How a family of rules answers: its findings decide its status."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rx_tools.checks.rule_hints import RULE_HINTS
from rx_tools.model.json import as_list, as_object
from rx_tools.model.json_path import below
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Arm, Spec


def ruled(findings: Iterable[Finding]) -> Result:
    """An error fails, an unverified item leaves it unverified, anything milder passes."""
    reasons = tuple(findings)
    levels = {finding.level for finding in reasons}
    if Level.ERROR in levels:
        return Result(Status.FAILED, reasons)
    if Level.UNVERIFIED in levels:
        return Result(Status.UNVERIFIED, reasons)
    return Result(Status.PASSED, reasons)


def on_spec(code: str, level: Level, message: str, path: str, hint: str = "") -> Finding:
    """A finding about the spec."""
    return Finding(code, level, message, path, hint or RULE_HINTS.get(code, ""), "spec")


def on_record(code: str, level: Level, message: str, path: str, hint: str = "") -> Finding:
    """A finding about the record."""
    return Finding(code, level, message, path, hint or RULE_HINTS.get(code, ""), "record")


def objects_at(value: object, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its JSON path."""
    for index, item in enumerate(as_list(value)):
        if isinstance(item, Mapping):
            yield below(path, index), item


def arms_at(spec: Spec) -> Iterator[tuple[str, Arm]]:
    """The planned arms, each with its JSON path."""
    for path, raw in objects_at(spec.raw.get("arms"), "$.arms"):
        yield path, Arm.of(raw)


def criteria_at(spec: Spec) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The criteria of the decision rule, each with its JSON path."""
    rule = as_object(spec.raw.get("decision_rule"))
    yield from objects_at(rule.get("criteria"), "$.decision_rule.criteria")
