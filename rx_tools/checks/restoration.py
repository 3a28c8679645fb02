"""Arms of one initialization group really start from the same adapter, with their own optimizer.

**What.** One entry per named arm with a proof of its initialization (a measured adapter hash, or an
immutable full checkpoint that the server says it loaded), an optimizer check at creation and after
every restore, and the full-precision output on a fixed batch; then all of it compared in the group.
Each names a retained file as its evidence; what rests on a file that is missing is unverified.

**Why.** A matching seed, loss or accuracy at step 0 proves nothing (LoRA B may be zero), and a
client created from saved state can silently fall back to AdamW.

**Fix.** Let `rx preflight` measure it. Where no server response exposes the optimizer, the entry
says `source: declared`, `actual: null` and stays unverified: nothing is invented.

**Source.** Exchange contract, sections 4 and 11.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.arm_evidence import Context, arm_check
from rx_tools.checks.grading import Check, Problem, gate_of_checks, same
from rx_tools.checks.group_evidence import group_checks
from rx_tools.checks.selected_rate import selected_rate
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX320": "an arm has no entry, or more than one",
    "RX321": "the provenance or the plan of groups is missing or malformed",
    "RX322": "the proof of an arm's initialization is missing or incomplete",
    "RX323": "the loaded checkpoint is not the declared one, or its load failed",
    "RX324": "an optimizer check is missing, duplicated or not from a server response",
    "RX325": "the observed optimizer or its configuration is not the requested one",
    "RX326": "the initial output on the fixed batch is missing or malformed",
    "RX327": "initializations within a group differ",
    "RX328": "arms of a group share no identity that could be compared",
    "RX329": "a group of one arm is only for a resumed arm",
}

SECTION = "initialization_provenance"
PASSED = "Every arm's initialization, optimizer and initial output are verified and match."


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The restoration gate; `details` is the server's answer. Never raises."""
    applies = check_applicability(spec.raw, Gate.RESTORATION)
    return gate_of_checks(applies, all_checks(spec, record, evidence), PASSED)


def all_checks(spec: Spec, record: Record, evidence: Evidence) -> Iterator[Check]:
    """Every arm of every group, then each group as a whole."""
    groups = groups_of(spec)
    provenance = record.section(SECTION)
    yield from plan_checks(groups, provenance)
    entries = entries_of(provenance)
    context = Context(
        fixed_batch=spec.restoration.raw.get("fixed_batch_required") not in (None, False),
        selected=lambda arm: selected_rate(spec, record, arm),
        evidence=evidence,
    )
    lone_allowed = (
        spec.features.get("checkpoint_restore") is True
        and spec.features.get("paired_training_arms") is False
    )
    for arms in groups:
        for arm in arms:
            yield arm_check(arm, entries.get(as_text(arm.get("name")), []), context)
    for index, arms in enumerate(groups):
        found = [entries.get(as_text(arm.get("name")), []) for arm in arms]
        if found and all(len(matches) == 1 for matches in found):
            members = [matches[0] for matches in found]
            yield from group_checks(index, arms, members, lone_allowed, context.fixed_batch)


def groups_of(spec: Spec) -> list[list[JsonObject]]:
    """The arms of each group of the spec; what is no object reads as an arm without a name."""
    groups = as_list(spec.restoration.raw.get("groups"))
    return [[as_object(arm) for arm in as_list(as_object(group).get("arms"))] for group in groups]


def plan_checks(groups: list[list[JsonObject]], provenance: JsonObject) -> Iterator[Check]:
    """A plan with groups, whose arms have distinct names, and a provenance of version 1."""
    names = [as_text(arm.get("name")) for arms in groups for arm in arms]
    place = "$.restoration_preflight.groups"
    if not names or not all(groups):
        message = "spec.restoration_preflight names no arms to compare."
        yield plan_check(Problem(Status.UNVERIFIED, "RX321", message, place, "spec"))
    elif not all(names) or len(set(names)) != len(names):
        message = "spec.restoration_preflight names an arm twice or not at all."
        yield plan_check(Problem(Status.INVALID, "RX321", message, place, "spec"))
    version = provenance.get("version")
    if provenance and not (is_integer(version) and same(version, 1)):
        status = Status.UNVERIFIED if version is None else Status.INVALID
        message = "initialization_provenance.version is not 1."
        yield plan_check(Problem(status, "RX321", message, f"$.{SECTION}.version"))


def plan_check(problem: Problem) -> Check:
    """A line about the section as a whole."""
    return Check(SECTION, (problem,))


def entries_of(provenance: JsonObject) -> dict[str, list[tuple[JsonObject, str]]]:
    """Arm name → the entries that bear it, each with its JSON path.

    `arms` is a list of objects with `name` (or `arm`), or an object keyed by arm name.
    """
    arms, found = provenance.get("arms"), dict[str, list[tuple[JsonObject, str]]]()
    if isinstance(arms, Mapping):
        for name, entry in arms.items():
            found[name] = [(as_object(entry), below("$", SECTION, "arms", name))]
        return found
    for index, entry in enumerate(as_list(arms)):
        item = as_object(entry)
        name = as_text(item.get("name", item.get("arm")))
        found.setdefault(name, []).append((item, below("$", SECTION, "arms", index)))
    return found
