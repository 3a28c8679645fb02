"""The record against the ledger: no boolean and no count is believed, each is derived again."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.checks.optimizers import Shown, reported
from rx_tools.errors import DocumentError
from rx_tools.evidence.claim import Claim, agree, beyond, contradicted, incomplete, verified
from rx_tools.evidence.layout import RECORD
from rx_tools.evidence.timeline import NEVER, ArmTimeline, Timeline
from rx_tools.evidence.verify_ledger import confirmation_arms
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.record import Record


def verify_record(record: Record, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """Everything in the record that the ledger can speak to."""
    yield from verify_provenance(record, history)
    yield from verify_selection(record, plan, history)
    yield from verify_completed(record, plan, history)
    yield from verify_checkpoints(record, history)
    yield from verify_deviations(record, history)
    yield from verify_hypothesis(record, history)
    yield from verify_evaluators(record, history)
    block = record.capacity_block
    if block:
        stated = block.get("comparison_steps_completed")
        yield agree("capacity_block", "steps completed", stated, history.updates_acknowledged)


def verify_provenance(record: Record, history: Timeline) -> Iterator[Claim]:
    """Restore counts and every `before_*` of the initialization provenance."""
    section = record.section("initialization_provenance")
    for entry in entries_by_arm(section):
        name = as_text(entry.get("name")) or as_text(entry.get("arm"))
        arm = history.arm(name)
        subject = f"{RECORD} initialization of {name}"
        if not arm.starts:
            yield from verify_not_started(subject, entry)
            continue
        yield agree(subject, "restore_count", entry.get("restore_count"), len(arm.restores))
        for part in ("initialization", "initial_output"):
            yield from verify_before_update(subject, part, as_object(entry.get(part)), arm, history)
        for check in map(as_object, as_list(entry.get("optimizer_checks"))):
            yield from verify_check(subject, check, arm, history)


def entries_by_arm(section: JsonObject) -> list[JsonObject]:
    """The entries, whether they stand in a list or in an object keyed by arm name."""
    arms = section.get("arms")
    if isinstance(arms, Mapping):
        return [{"name": name, **as_object(entry)} for name, entry in arms.items()]
    return [as_object(entry) for entry in as_list(arms)]


def verify_not_started(subject: str, entry: JsonObject) -> Iterator[Claim]:
    """An arm that never started has no update that anything could come after."""
    if entry.get("restore_count") not in (0, None):
        yield contradicted(subject, "restores are stated of an arm that never started")


def verify_before_update(
    subject: str, part: str, stated: JsonObject, arm: ArmTimeline, history: Timeline
) -> Iterator[Claim]:
    """The evidence that a proof refers to was announced before the arm's first update."""
    if "before_first_update" not in stated:
        return
    known = history.known_by(as_text(stated.get("evidence_ref")))
    before = known < arm.first_update
    yield agree(subject, f"{part}.before_first_update", stated["before_first_update"], before)


def verify_check(
    subject: str, check: JsonObject, arm: ArmTimeline, history: Timeline
) -> Iterator[Claim]:
    """The optimizer was looked at between a restore and the update that followed it."""
    number = check.get("after_restore")
    seen = arm.checked(number)
    if number == 0 and not seen:
        seen = history.known_by(as_text(check.get("evidence_ref"))) < arm.first_update
    what = f"optimizer check {number}"
    yield agree(subject, f"{what}: before_next_update", check.get("before_next_update"), seen)
    if number in arm.shown:
        yield from verify_shown(subject, what, check, arm.shown[number])


def verify_shown(subject: str, what: str, check: JsonObject, seen: Shown) -> Iterator[Claim]:
    """The optimizer that the server showed, and those stated settings that it showed as well.

    The rate is left out: the record states the configured one, the server that of its last step.
    """
    yield agree(subject, f"{what}: actual", reported(check.get("actual")), seen.type)
    stated = as_object(check.get("actual_config"))
    for name in sorted(stated.keys() & seen.settings.keys() - {"learning_rate"}):
        yield agree(subject, f"{what}: {name}", stated.get(name), seen.settings[name])


def verify_selection(record: Record, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """The selection stands in the ledger as the record has it, and stood there in time."""
    section = as_object(record.section("decision").get("selection"))
    if not section:
        return
    frozen = history.selection_frozen_before(confirmation_arms(plan))
    stated = section.get("frozen_before_confirmation")
    yield agree("selection", "frozen_before_confirmation", stated, frozen)
    announced = history.data("selection_frozen")
    selected = announced[-1].get("selected") if announced else None
    if selected is not None and section.get("selected") == selected:
        yield verified("selection", "the selected rates are those of the ledger")
    else:
        yield contradicted("selection", "the selected rates are not those of the ledger")


def verify_completed(record: Record, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """Completed arms were finished, after the number of steps that the plan demands."""
    planned = {
        as_text(arm.get("name")): arm.get("steps")
        for arm in map(as_object, as_list(plan.get("arms")))
    }
    for name in record.completed_arms:
        arm = history.arm(name)
        if name not in planned:
            yield contradicted(name, "is completed in the record, but no arm of the plan")
        elif arm.finished is None:
            yield contradicted(name, "is completed in the record, but the ledger never finished it")
        else:
            yield agree(name, "the number of steps", planned[name], arm.surviving)
    open_arms = sorted(planned.keys() - set(record.completed_arms))
    if record.verdict in ("supported", "refuted") and open_arms:
        yield contradicted("verdict", f"{record.verdict}, but {open_arms[0]} did not complete")


def verify_checkpoints(record: Record, history: Timeline) -> Iterator[Claim]:
    """Checkpoint references are those that the ledger saw saved; the weights are elsewhere."""
    for checkpoint in record.checkpoints:
        arm = history.arm(checkpoint.arm or "")
        subject = f"checkpoint of {checkpoint.arm}"
        if checkpoint.uri not in arm.checkpoints:
            yield contradicted(subject, f"the ledger saw nobody save {checkpoint.uri}")
        else:
            saved = arm.checkpoints[checkpoint.uri]
            yield agree(subject, f"the step of {checkpoint.uri}", checkpoint.step, saved)
    if record.checkpoints:
        yield beyond("checkpoints", "references, not copies: the weights are with the service")


def verify_deviations(record: Record, history: Timeline) -> Iterator[Claim]:
    """Every deviation was declared in the ledger before anything trained."""
    declared = [
        deviation
        for line in history.events.get("deviations_declared", ())
        if line.seq < history.first_update
        for deviation in as_list(line.data.get("deviations"))
    ]
    for deviation in record.deviations:
        subject = f"deviation of {deviation.field}"
        if deviation.raw in declared:
            yield verified(subject, "declared before the first update")
        else:
            yield contradicted(subject, "not declared before the first update")


def verify_hypothesis(record: Record, history: Timeline) -> Iterator[Claim]:
    """Whether the original hypothesis is tested was declared, and so was what is tested instead."""
    declared = history.data("deviations_declared")
    latest = declared[-1] if declared else {"original_hypothesis_tested": True}
    for key in ("original_hypothesis_tested", "tested_instead"):
        stated, told = record.raw.get(key), latest.get(key)
        if (stated or None) != (told or None):
            yield contradicted(key, f"stated {stated!r}, declared in the ledger was {told!r}")


def verify_evaluators(record: Record, history: Timeline) -> Iterator[Claim]:
    """Each evaluator's id is recomputed, and was frozen in the ledger."""
    frozen = {str(data.get("evaluator_id")) for data in history.data("evaluator_frozen")}
    for name, provenance in as_object(record.section("evaluation").get("evaluators")).items():
        subject = f"evaluator {name}"
        try:
            derived: str = evaluator_id(as_object(provenance))
        except DocumentError as error:
            yield contradicted(subject, str(error))
            continue
        yield agree(subject, "the id of its provenance", name, derived)
        if name not in frozen:
            yield contradicted(subject, "was never frozen in the ledger")
    if not frozen and history.first("arm_scored") < NEVER:
        yield incomplete("evaluator", "the ledger froze none")


def verify_updates(updates: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Claim]:
    """Later updates keep every figure that an earlier one posted."""
    kept = True
    for (_, earlier), (path, later) in pairwise(updates):
        lost = lost_figures(as_object(earlier.get("metrics")), as_object(later.get("metrics")))
        for name in lost:
            kept = False
            yield contradicted(path, f"the figure {name} of an earlier update is gone or changed")
    if kept and updates:
        yield verified("updates", "every posted figure was kept")


def lost_figures(earlier: JsonObject, later: JsonObject, prefix: str = "metrics") -> list[str]:
    """Paths of figures that are missing or different in a later update."""
    lost = []
    for key, value in earlier.items():
        path = f"{prefix}.{key}"
        if isinstance(value, Mapping):
            lost += lost_figures(value, as_object(later.get(key)), path)
        elif later.get(key) != value:
            lost.append(path)
    return lost
