"""References from a record: to evidence files by name, to checkpoints by URI."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.grading import Problem, count, examine, is_text, sha256, text
from rx_tools.model.depth import is_flat
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.json_path import below, child
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.secrets import scan

REFERENCES = {
    "evidence_ref",
    "predictions_ref",
    "manifest_ref",
    "search_ref",
    "confirmation_ref",
    "dataset_file",
    "evaluation_file",
    "audit_file",
}
HASHES = {"manifest_ref": "manifest_sha256"}
URI = re.compile(r"[a-z][a-z0-9+.-]{1,20}://\S{1,2000}")


def reference_problems(record: Record, evidence: Evidence) -> Iterator[Problem]:
    """Every file that the record refers to is retained, under the hash that it states."""
    named: dict[str, str] = {}
    for path, owner, key in references_in(record.raw, "$"):
        for name in as_list(owner[key]) if isinstance(owner[key], list) else [owner[key]]:
            if not is_text(name):
                continue
            if name not in evidence:
                named.setdefault(name, path)
            elif key in HASHES and sha256(owner.get(HASHES[key])) is Status.PASSED:
                yield from hash_problems(name, owner[HASHES[key]], evidence, path)
    observations = as_object(record.section("decision").get("observations_file"))
    if is_text(observations.get("name")) and observations["name"] not in evidence:
        named.setdefault(observations["name"], "$.decision.observations_file")
    for name, path in named.items():
        message = f"The record refers to {name}, which is not retained for this run."
        yield Problem(Status.UNVERIFIED, "RX388", message, path)


def references_in(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Every member that names a file, wherever it stands: its path, its object and its key."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            place = child(path, str(key))
            if key in REFERENCES and item is not None:
                yield place, value, key
            yield from references_in(item, place)
    elif isinstance(value, list) and not is_flat(value):
        for index, item in enumerate(value):
            yield from references_in(item, child(path, index))


def hash_problems(name: str, stated: str, evidence: Evidence, path: str) -> Iterator[Problem]:
    """A reference that states a hash holds for these bytes only."""
    if evidence[name].sha256 != stated:
        message = f"{name}: the retained bytes hash to {evidence[name].sha256}."
        yield Problem(Status.FAILED, "RX384", message, path)


def checkpoint_problems(section: Mapping[str, Any]) -> Iterator[Problem]:
    """Checkpoints are references: an arm, a step and a URI without credentials."""
    checkpoints = section.get("checkpoints")
    if checkpoints is not None and not isinstance(checkpoints, list):
        place = "$.evidence.checkpoints"
        yield Problem(Status.INVALID, "RX389", "evidence.checkpoints is no list.", place)
    for index, item in enumerate(as_list(checkpoints)):
        entry, place = as_object(item), below("$.evidence", "checkpoints", index)
        label = f"checkpoint {index + 1}"
        rules = {"arm": text, "step": count, "uri": text}
        yield from examine(entry, rules, "RX389", label, place)
        uri = as_text(entry.get("uri"))
        if uri and not URI.fullmatch(uri):
            yield Problem(Status.INVALID, "RX389", f"{label}: uri is no URI.", place)
        if "?" in uri or "@" in uri or scan(uri.encode("utf-8", "replace")):
            message = f"{label}: its URI bears a credential or a query."
            yield Problem(Status.FAILED, "RX386", message, place)
