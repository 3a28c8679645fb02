"""Successive updates of one run only ever add.

**What.** From one update to the next: no number changes or vanishes, no arm leaves
`completed_arms`, a finished run does not start again, an evidence file stays as it is, and a
deviation is declared while the run goes on, before any arm has completed with it, and stays.

**Why.** The exchange saves each update; finished arms count even if the session ends early. A
number that changes later was either wrong then or is wrong now, and a deviation that appears
only at the end is flagged as unrecorded.

**Fix.** Post a corrected value under a new name and say why. Declare deviations before training.
Publish every stage of a file under a new name.

**Source.** Exchange contract, sections 11 and 12.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rx_tools.checks.ruling import objects_at, on_record, ruled
from rx_tools.model.evidence import inline_evidence
from rx_tools.model.json import as_object, as_text, is_number
from rx_tools.model.json_path import child
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status

CODES: Mapping[str, str] = {
    "RX220": "a number that was posted has changed",
    "RX221": "a number that was posted has vanished",
    "RX222": "an arm has left completed_arms",
    "RX223": "a deviation was declared only at the end",
    "RX224": "a deviation was declared after an arm had completed",
    "RX225": "a finished run goes on",
    "RX226": "an evidence file has changed under its name",
    "RX228": "an evidence file or a checkpoint that was posted has vanished",
    "RX227": "a deviation that was declared has vanished",
}

RUNNING = "running"


def judge_updates(updates: Sequence[Record]) -> tuple[Result, ...]:
    """One result per update, in order: what it breaks of what stood before it."""
    results = [Result(Status.PASSED)]
    for index in range(1, len(updates)):
        before, after = updates[index - 1], updates[index]
        found = [*numbers(before, after), *arms(before, after), *late(updates[:index], after)]
        found += [*reopened(before, after), *rewritten(before, after)]
        found += withdrawn(before, after)
        results.append(ruled(found))
    return tuple(results[: len(updates)])


def numbers(before: Record, after: Record) -> Iterator[Finding]:
    """Every number that was posted still stands."""
    now = dict(posted(after))
    for path, value in posted(before):
        if path not in now:
            message = f"{value!r} was posted here and has vanished"
            yield on_record("RX221", Level.ERROR, message, path)
        elif now[path] != value:
            message = f"was posted as {value!r}, now {now[path]!r}"
            yield on_record("RX220", Level.ERROR, message, path)


def posted(record: Record) -> Iterator[tuple[str, float]]:
    """The numbers that an update posts, each with its path."""
    yield from leaves(record.metrics, "$.metrics")
    kept = record.section("evidence").get("per_arm_metrics")
    yield from leaves(kept, "$.evidence.per_arm_metrics")


def leaves(value: object, path: str) -> Iterator[tuple[str, float]]:
    """The numbers within nested objects, each with its path."""
    for key, inner in as_object(value).items():
        if is_number(inner):
            yield child(path, key), inner
        else:
            yield from leaves(inner, child(path, key))


def arms(before: Record, after: Record) -> Iterator[Finding]:
    """An arm that completed stays completed."""
    for name in before.completed_arms:
        if name not in after.completed_arms:
            message = f"{name!r} had completed and is gone"
            yield on_record("RX222", Level.ERROR, message, "$.completed_arms")


def late(earlier: Sequence[Record], after: Record) -> Iterator[Finding]:
    """A deviation that is new in this update, when it is too late for it."""
    known = [signature(item.raw) for record in earlier for item in record.deviations]
    done = earlier[-1].completed_arms
    for path, deviation in objects_at(after.raw.get("deviations"), "$.deviations"):
        if signature(deviation) in known:
            continue
        what = as_text(deviation.get("field")) or "deviation"
        if after.status != RUNNING:
            message = f"the {what} deviation appears only with the final result: it is unrecorded"
            yield on_record("RX223", Level.ERROR, message, path, "post it while running")
        elif done:
            message = f"the {what} deviation appears after {len(done)} arms had completed"
            hint = "it may only concern arms that had not started"
            yield on_record("RX224", Level.UNVERIFIED, message, path, hint)


def withdrawn(before: Record, after: Record) -> Iterator[Finding]:
    """A declared deviation stays declared."""
    now = [signature(deviation.raw) for deviation in after.deviations]
    for deviation in before.deviations:
        if signature(deviation.raw) not in now:
            message = f"the {deviation.field or 'declared'} deviation has vanished"
            yield on_record("RX227", Level.ERROR, message, "$.deviations")


def signature(deviation: Mapping[str, Any]) -> tuple[str, str, str]:
    """What makes two declarations the same one; a reason may be reworded."""
    original, effective = deviation.get("original"), deviation.get("effective")
    return as_text(deviation.get("field")), repr(original), repr(effective)


def reopened(before: Record, after: Record) -> Iterator[Finding]:
    """`succeeded` and `failed` are final."""
    if before.status in ("succeeded", "failed") and after.status != before.status:
        message = f"the run was {before.status} and is now {after.status}"
        yield on_record("RX225", Level.ERROR, message, "$.status")


def rewritten(before: Record, after: Record) -> Iterator[Finding]:
    """File names are immutable, and what was posted stays."""
    then, now = digests(before), digests(after)
    for name, digest in then.items():
        if now.get(name, digest) != digest:
            message = f"{name!r} has other bytes than before"
            yield on_record("RX226", Level.ERROR, message, "$.evidence.files", "use a new name")
    yield from vanished("file", names_of(before), names_of(after), "$.evidence.files")
    uris = [[item.uri for item in record.checkpoints] for record in (before, after)]
    yield from vanished("checkpoint", uris[0], uris[1], "$.evidence.checkpoints")


def names_of(record: Record) -> list[str | None]:
    """The names of the evidence files that an update lists."""
    return [file.name for file in record.files]


def vanished(
    kind: str, before: Sequence[str | None], after: Sequence[str | None], path: str
) -> Iterator[Finding]:
    """A finding for each name that was posted and is gone."""
    for name in dict.fromkeys(before):
        if name is not None and name not in after:
            message = f"the {kind} {name!r} was posted and has vanished"
            yield on_record("RX228", Level.ERROR, message, path)


def digests(record: Record) -> Mapping[str, str]:
    """File name → digest, as stated or of the inline content."""
    stated = {file.name: file.sha256 for file in record.files if file.name and file.sha256}
    inline = {name: file.sha256 for name, file in inline_evidence(record.raw).items()}
    return {**stated, **inline}
