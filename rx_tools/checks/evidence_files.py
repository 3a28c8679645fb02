"""The listed files one by one: what is stated, what is retained, and what must not be in them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.grading import Problem, examine, is_text, one_of, sha256, text
from rx_tools.model.evidence import KINDS, Evidence
from rx_tools.model.file_names import fault_of, folded
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Status
from rx_tools.model.secrets import scan

FILES = "$.evidence.files"
MAX_FILE_BYTES = 10 * 2**20
MAX_RUN_BYTES = 40 * 2**20
MAX_FILES = 64

ATTACHMENT = re.compile(r"https://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/(?:[\w.~%+-]{1,200}/){0,8}")
ENVIRONMENT_FILE = re.compile(r"\.env(?:\..*)?|.*\.env", re.IGNORECASE)


def file_problems(section: Mapping[str, Any], evidence: Evidence) -> Iterator[Problem]:
    """Every entry of `files`, in order."""
    entries = section.get("files")
    if not isinstance(entries, list) or not entries:
        status = Status.INVALID if entries not in (None, []) else Status.UNVERIFIED
        yield Problem(status, "RX380", "evidence.files lists no file.", FILES)
    for index, entry in enumerate(as_list(entries)):
        yield from entry_problems(as_object(entry), evidence, below(FILES, index))


def entry_problems(entry: Mapping[str, Any], evidence: Evidence, place: str) -> Iterator[Problem]:
    """One entry: its name and kind, exactly one source of bytes, and the bytes themselves."""
    label = as_text(entry.get("name")) or "a file"
    rules = {"name": text, "kind": one_of(*KINDS)}
    yield from examine(entry, rules, "RX381", f"evidence file {label}", place)
    content, url = entry.get("content"), entry.get("source_url")
    if content is None and url is None:
        yield reference_only(label, entry.get("sha256"), evidence, place)
    elif content is not None and url is not None:
        message = f"{label}: exactly one of content and source_url is expected."
        yield Problem(Status.INVALID, "RX381", message, place)
    elif content is not None and not isinstance(content, str):
        yield Problem(Status.INVALID, "RX381", f"{label}: content is no text.", place)
    elif url is not None and not is_attachment(url):
        message = f"{label}: source_url is no HTTPS /attachments/… URL."
        yield Problem(Status.INVALID, "RX385", message, below(place, "source_url"))
    stated = entry.get("sha256")
    if stated is not None and sha256(stated) is not Status.PASSED:
        yield Problem(Status.INVALID, "RX384", f"{label}: sha256 is malformed.", place)
    yield from byte_problems(label, stated, evidence, place)


def reference_only(label: str, stated: object, evidence: Evidence, place: str) -> Problem:
    """Neither bytes nor a URL: enough beside retained files, not for handing the record in."""
    file = evidence.get(label)
    if file is not None and stated == file.sha256:
        message = f"{label}: retained, but a record to hand in needs content or source_url."
        return Problem(Status.PASSED, "RX381", message, place)
    message = f"{label}: exactly one of content and source_url is expected."
    return Problem(Status.UNVERIFIED, "RX381", message, place)


def byte_problems(label: str, stated: object, evidence: Evidence, place: str) -> Iterator[Problem]:
    """The retained bytes have the stated hash and hold no credential."""
    file = evidence.get(label)
    if file is None:
        yield Problem(Status.UNVERIFIED, "RX384", f"{label}: not retained for this run.", place)
        return
    if is_text(stated) and stated != file.sha256:
        message = f"{label}: the retained bytes hash to {file.sha256}."
        yield Problem(Status.FAILED, "RX384", message, below(place, "sha256"))
    if file.size <= MAX_FILE_BYTES:
        found = sorted({hit.rule for hit in scan(file.read())})
        if found:
            message = f"{label}: holds what looks like {', '.join(found)}."
            yield Problem(Status.FAILED, "RX386", message, place)


def is_attachment(url: object) -> bool:
    """An HTTPS URL below `/attachments/`, without user info, query or fragment."""
    if not isinstance(url, str) or any(mark in url for mark in "@?#\\ \n\r\t"):
        return False
    start = ATTACHMENT.match(url)
    return start is not None and "/attachments/" in url and not url.endswith("/attachments/")


def name_problems(record: Record) -> Iterator[Problem]:
    """Names are portable, distinct on every file system, and no environment file."""
    seen: dict[str, str] = {}
    for index, file in enumerate(record.files):
        name, place = file.name or "", below(FILES, index, "name")
        if not name:
            continue
        if ENVIRONMENT_FILE.fullmatch(name):
            message = f"{name}: environment files hold credentials."
            yield Problem(Status.FAILED, "RX386", message, place)
        fault = fault_of(name)
        if fault:
            yield Problem(Status.INVALID, "RX382", f"the file name {name!a} {fault}.", place)
        twin = seen.setdefault(folded(name), name)
        if twin != name or [other.name for other in record.files[:index]].count(name):
            message = f"{name}: listed twice, or only case or Unicode form differs from {twin}."
            yield Problem(Status.INVALID, "RX382", message, place)


def cap_problems(record: Record, evidence: Evidence) -> Iterator[Problem]:
    """At most 10 MiB a file, 64 files and 40 MiB a run."""
    if len(record.files) > MAX_FILES:
        message = f"{len(record.files)} files, at most {MAX_FILES} are accepted."
        yield Problem(Status.FAILED, "RX383", message, FILES)
    listed = {file.name for file in record.files}
    sizes = {name: file.size for name, file in evidence.items() if name in listed}
    for name, size in sizes.items():
        if size > MAX_FILE_BYTES:
            message = f"{name}: {size} bytes, at most {MAX_FILE_BYTES} are accepted."
            yield Problem(Status.FAILED, "RX383", message, FILES)
    total = sum(sizes.values())
    if total > MAX_RUN_BYTES:
        message = f"{total} bytes in all, at most {MAX_RUN_BYTES} are accepted."
        yield Problem(Status.FAILED, "RX383", message, FILES)
