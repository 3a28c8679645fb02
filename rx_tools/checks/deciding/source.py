"""Where a record's observation rows are: inline, or in one retained file named with its hash."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.observation_rows import (
    ObservationRows,
    number_issues,
    size_issues,
)
from rx_tools.model.evidence import EvidenceFile
from rx_tools.model.json import JsonObject, is_integer

Source: TypeAlias = tuple[ObservationRows | list[Any] | None, tuple[Issue, ...]]
"""Rows, or None and why there are none."""

SECTION = "$.decision"
NOT_RETAINED = "Observation file name/hash is not retained for this run."
EXPECTED_ONE = "Expected exactly one of observations and observations_file."
PLAIN_NAME = re.compile(r"[^\x00-\x1f\x7f/\\:*?\"<>|~]{1,255}")
SHA256 = re.compile(r"[0-9a-f]{64}")


def read_source(section: object, evidence: Mapping[str, EvidenceFile]) -> Source:
    """The rows of a record's `decision`, or None and what is wrong with their source."""
    if not isinstance(section, Mapping):
        return None, (Issue("OBSERVATIONS_EXACTLY_ONE", EXPECTED_ONE, SECTION),)
    version = section.get("version")
    if not (is_integer(version) and version == 1):
        text = f"decision.version is {version!r}, not 1."
        return None, (Issue("DECISION_VERSION", text, f"{SECTION}.version"),)
    inline, named = section.get("observations"), section.get("observations_file")
    if (inline is None) == (named is None):
        return None, (Issue("OBSERVATIONS_EXACTLY_ONE", EXPECTED_ONE, SECTION),)
    return from_file(named, evidence) if inline is None else from_list(inline)


def from_list(inline: object) -> tuple[list[Any] | None, tuple[Issue, ...]]:
    """Rows within the record."""
    if not isinstance(inline, list):
        text = "decision.observations is no list of rows."
        return None, (Issue("OBSERVATIONS_UNREADABLE", text, f"{SECTION}.observations"),)
    issues = tuple(number_issues(len(inline)))
    return (None if issues else inline), issues


def from_file(
    named: object, evidence: Mapping[str, EvidenceFile]
) -> tuple[ObservationRows | None, tuple[Issue, ...]]:
    """Rows of a retained file."""
    issues = tuple(file_issues(named, evidence))
    if issues or not isinstance(named, Mapping):
        return None, issues
    rows = ObservationRows(evidence[named["name"]].read())
    return (None if rows.issues else rows), rows.issues


def file_issues(named: object, evidence: Mapping[str, EvidenceFile]) -> Iterator[Issue]:
    """Why the named file cannot serve."""
    place = f"{SECTION}.observations_file"
    entry: JsonObject = named if isinstance(named, Mapping) else {}
    name, digest = entry.get("name"), entry.get("sha256")
    if not (isinstance(name, str) and is_plain_name(name)):
        text = f"observations_file needs a plain file name, not {name!r}."
        yield Issue("OBSERVATIONS_FILE_NAME", text, f"{place}.name")
        return
    if not (isinstance(digest, str) and SHA256.fullmatch(digest)):
        yield Issue("OBSERVATIONS_FILE_NOT_RETAINED", NOT_RETAINED, f"{place}.sha256")
        return
    file = evidence.get(name)
    if file is None or file.sha256 != digest:
        yield Issue("OBSERVATIONS_FILE_NOT_RETAINED", NOT_RETAINED, place)
        return
    yield from size_issues(file.size)


def is_plain_name(name: str) -> bool:
    """Whether a name is neither a path nor a URL."""
    return PLAIN_NAME.fullmatch(name) is not None and not name.startswith(".")
