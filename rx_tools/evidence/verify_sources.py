"""What the preflight measured stands in the record as it stands in the evidence."""

from collections.abc import Iterator

from rx_tools.evidence.claim import Claim, contradicted, verified
from rx_tools.evidence.contents import json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import EVIDENCE, RECORD
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.record import Record
from rx_tools.planning import evidence_names as names

PROVENANCE = "initialization_provenance"
SECTIONS = {
    names.CORRECTNESS: "correctness_preflight",
    names.RESTORATION: PROVENANCE,
    names.ACTIVATION: "activation_calibration",
    names.FEASIBILITY: "feasibility",
}
AFTER_TRAINING = ("restore_count", "optimizer_checks")
"""What restores add to an arm's entry; the ledger speaks to them."""


def verify_sources(files: Files, record: Record) -> Iterator[Claim]:
    """Each measured section against the newest evidence file that holds it."""
    compared = 0
    for name, key in SECTIONS.items():
        path = newest(files, name)
        measured = as_object(json_object(files, path).get(key)) if path else {}
        if not measured:
            continue
        compared += 1
        wrong = difference(key, record.section(key), measured)
        if wrong:
            yield contradicted(f"{RECORD} {key}", f"{wrong} is not what {path} holds")
    if compared:
        yield verified("measurements", f"{compared} sections were compared with their evidence")


def newest(files: Files, name: str) -> str:
    """The path of the highest number of an evidence file's name; empty if there is none."""
    stem, dot, ending = name.partition(".")
    numbered = [
        (len(path), path)
        for path in files
        if path == f"{EVIDENCE}/{name}"
        or (path.startswith(f"{EVIDENCE}/{stem}-") and path.endswith(dot + ending))
    ]
    return max(numbered, default=(0, ""))[1]


def difference(key: str, stated: JsonObject, measured: JsonObject) -> str:
    """The first part of a section that was not measured so; empty if all was."""
    if key != PROVENANCE:
        parts = [*measured, *(part for part in stated if part not in measured)]
        return next((part for part in parts if stated.get(part) != measured.get(part)), "")
    ours, theirs = entries(stated), entries(measured)
    for name, entry in ours.items():
        wrong = arm_difference(entry, theirs.get(name, {}))
        if wrong:
            return f"{wrong} of {name}"
    return ""


def entries(section: JsonObject) -> dict[str, JsonObject]:
    """Arm name → its entry."""
    found = map(as_object, as_list(section.get("arms")))
    return {as_text(entry.get("name")): entry for entry in found}


def arm_difference(stated: JsonObject, measured: JsonObject) -> str:
    """The first part of an arm's entry, or of its first optimizer check, that differs."""
    for part in {**measured, **stated}:
        if part not in AFTER_TRAINING and stated.get(part) != measured.get(part):
            return part
    first, seen = (as_list(e.get("optimizer_checks"))[:1] for e in (stated, measured))
    return "" if first == seen else "optimizer_checks[0]"
