"""The projection that opened the feasibility gate is one of the plan that was frozen."""

from collections.abc import Iterator

from rx_tools.checks.kinds import Kind
from rx_tools.checks.shape import validator
from rx_tools.evidence.claim import Claim, contradicted, incomplete, verified
from rx_tools.evidence.layout import PLAN, RECORD
from rx_tools.model.json import JsonObject
from rx_tools.model.record import Record
from rx_tools.planning.plan import Plan
from rx_tools.planning.projected import projection_faults

SECTION = "feasibility"
SUBJECT = f"{RECORD} {SECTION}"


def verify_feasibility(record: Record, plan: JsonObject, spec: JsonObject) -> Iterator[Claim]:
    """Every figure of the section that `plan.json` and `spec.json` determine."""
    section = record.section(SECTION)
    if not section:
        return
    frozen = whole_plan(plan)
    if frozen is None:
        yield incomplete(SUBJECT, f"not compared, because {PLAN} is no whole plan")
        return
    faults = list(projection_faults(section, frozen, spec))
    yield from (contradicted(SUBJECT, fault) for fault in faults)
    if not faults:
        yield verified(SUBJECT, f"units, samples and configuration are those of {PLAN}")


def whole_plan(document: JsonObject) -> Plan | None:
    """The plan of a document; None where its schema does not accept it."""
    if not validator(Kind.PLAN).is_valid(document):
        return None
    try:
        return Plan.from_json(document)
    except (AttributeError, KeyError, TypeError):
        return None
