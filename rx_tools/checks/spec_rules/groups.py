"""The restoration groups cover the arms that are compared, as the arms are planned.

**What.** Every confirmation arm of a paired training comparison is in exactly one initialization
group; groups name only planned arms; optimizer and learning rate requested in a group are those of
the arm; a group of one arm is only for a resumed arm.

**Why.** Arms outside every group are never shown to start from the same adapter, so the paired
comparison rests on nothing. A request that contradicts the arm can never be met.

**Fix.** List each confirmation arm in the group of its seed, under its exact name, with the
optimizer and the rate of the arm. Leave out frozen baselines that are not trained.

**Source.** Exchange contract, section 4.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.applicability import NOT_APPLICABLE, check_applicability
from rx_tools.checks.optimizers import family
from rx_tools.checks.roles import is_selection
from rx_tools.checks.ruling import arms_at, objects_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text, is_number
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Arm, Spec

CODES: Mapping[str, str] = {
    "RX130": "an arm is in no restoration group",
    "RX131": "a restoration group names an arm twice, or one that is not planned",
    "RX132": "a restoration group asks for something else than the arm",
    "RX133": "a restoration group of one arm compares nothing",
    "RX134": "no restoration groups are planned",
}

GROUPS = "$.restoration_preflight.groups"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone; not applicable where the restoration gate is not."""
    if check_applicability(spec.raw, Gate.RESTORATION)["status"] == NOT_APPLICABLE:
        return Result(Status.NOT_APPLICABLE)
    if not spec.restoration.groups:
        message = "the restoration gate applies, but no group says which arms start alike"
        return ruled([on_spec("RX134", Level.UNVERIFIED, message, "$.restoration_preflight")])
    planned = {arm.name: arm for arm in spec.arms if arm.name is not None}
    entries = list(requested(spec))
    return ruled(
        [
            *uncovered(spec, {as_text(entry.get("name")) for _, entry in entries}),
            *membership(entries, planned),
            *contradictions(entries, planned, spec),
            *lonely(spec),
        ]
    )


def requested(spec: Spec) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every entry of every group, with its JSON path."""
    section = as_object(spec.raw.get("restoration_preflight"))
    for path, group in objects_at(section.get("groups"), GROUPS):
        yield from objects_at(group.get("arms"), below(path, "arms"))


def uncovered(spec: Spec, covered: set[str]) -> Iterator[Finding]:
    """Arms that are compared but in no group."""
    if spec.features.get("paired_training_arms") is False:
        return
    for path, arm in arms_at(spec):
        if arm.name is not None and arm.name not in covered and not is_selection(arm):
            message = f"arm {arm.name!r} is in no restoration group"
            yield on_spec("RX130", Level.ERROR, message, path, "add it to the group of its seed")


def membership(
    entries: list[tuple[str, Mapping[str, Any]]], planned: Mapping[str, Arm]
) -> Iterator[Finding]:
    """Each entry names a planned arm, once."""
    seen: set[str] = set()
    for path, entry in entries:
        name = as_text(entry.get("name"))
        if name not in planned:
            message = f"{name!r} is no planned arm"
            yield on_spec("RX131", Level.ERROR, message, below(path, "name"))
        elif name in seen:
            message = f"arm {name!r} is in the groups twice"
            yield on_spec("RX131", Level.ERROR, message, below(path, "name"))
        seen.add(name)


def contradictions(
    entries: list[tuple[str, Mapping[str, Any]]], planned: Mapping[str, Arm], spec: Spec
) -> Iterator[Finding]:
    """Optimizer and rate of a group are those of the arm."""
    for path, entry in entries:
        arm = planned.get(as_text(entry.get("name")))
        if arm is None:
            continue
        wanted, stated = as_text(entry.get("optimizer")), arm.optimizer or spec.optimizer_name
        if wanted and stated and family(wanted) != family(stated):
            message = f"the group asks for {wanted!r}, the arm for {stated!r}"
            yield on_spec("RX132", Level.ERROR, message, below(path, "optimizer"))
        config = as_object(entry.get("optimizer_config"))
        for key in ("learning_rate", "lr"):
            rate = config.get(key)
            if is_number(rate) and arm.lr is not None and rate != arm.lr:
                message = f"the group asks for the rate {rate}, the arm for {arm.lr}"
                place = below(path, "optimizer_config", key)
                yield on_spec("RX132", Level.ERROR, message, place)


def lonely(spec: Spec) -> Iterator[Finding]:
    """One arm alone is a group only where it resumes and nothing is paired."""
    features = spec.features
    resumes = features.get("checkpoint_restore") is True
    if resumes and features.get("paired_training_arms") is False:
        return
    section = as_object(spec.raw.get("restoration_preflight"))
    for path, group in objects_at(section.get("groups"), GROUPS):
        if len(list(objects_at(group.get("arms"), path))) == 1:
            message = "a group of one arm compares nothing"
            hint = "allowed with checkpoint_restore: true and paired_training_arms: false only"
            yield on_spec("RX133", Level.ERROR, message, path, hint)
