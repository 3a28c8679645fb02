"""The hash level: every byte of a bundle is listed once, and is what the manifest says."""

from collections.abc import Iterable, Iterator, Mapping

from rx_tools.errors import DocumentError, IntegrityError
from rx_tools.evidence.budget import Budget, require_room
from rx_tools.evidence.bundle import description
from rx_tools.evidence.claim import Claim, agree, contradicted, incomplete, verified
from rx_tools.evidence.contents import expected_files, json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import (
    BUNDLE,
    EVIDENCE,
    MANIFEST,
    RECORD,
    REQUIRED,
    UPDATES,
    in_evidence,
    update_number,
)
from rx_tools.evidence.manifest import parse_manifest
from rx_tools.evidence.secrets import scan
from rx_tools.model.json import as_list, as_object
from rx_tools.model.record import Record


def verify_files(files: Files) -> Iterator[Claim]:
    """Completeness, digests and caps, from the bytes alone."""
    try:
        listed = parse_manifest(files[MANIFEST])
    except IntegrityError as error:
        yield contradicted(MANIFEST, str(error))
        return
    wrong = [*differences(files, listed)]
    yield from wrong
    if not wrong:
        yield verified(MANIFEST, f"{len(listed)} files, each with the listed SHA-256, no others")
    yield from missing_documents(files)
    yield verify_caps(files)


def differences(files: Files, listed: Mapping[str, str]) -> Iterator[Claim]:
    """Files that are missing, unlisted, or other than the manifest says."""
    for path in sorted(listed.keys() | (files.keys() - {MANIFEST})):
        if path not in files:
            yield contradicted(path, "is listed in the manifest, but missing")
        elif path not in listed:
            yield contradicted(path, "is not listed in the manifest")
        elif (found := files.sha256(path)) != listed[path]:
            yield contradicted(path, f"has SHA-256 {found}, listed is {listed[path]}")


def missing_documents(files: Files) -> Iterator[Claim]:
    """The documents without which nothing more can be judged."""
    for name in (*REQUIRED, RECORD, BUNDLE):
        if name not in files:
            yield incomplete(name, "is missing")


def verify_secrets(files: Files, listed: Iterable[str]) -> Iterator[Claim]:
    """No file holds what looks like a credential; the evidence gate looks into the listed ones."""
    others = files.keys() - set(map(in_evidence, listed))
    hits = [(path, hit) for path in sorted(others) for hit in scan(files[path], {})[:1]]
    yield from (contradicted(path, f"holds a secret: {hit}") for path, hit in hits)
    if not hits:
        yield verified("secrets", f"nothing in {len(others)} files looks like a credential")


def verify_caps(files: Files) -> Claim:
    """10 MiB a file, 64 files, 40 MiB a run."""
    sizes = {path: len(data) for path, data in files.items() if path.startswith(f"{EVIDENCE}/")}
    try:
        after = require_room(Budget(0, 0), sizes)
    except DocumentError as error:
        return contradicted("caps", error.what)
    return verified("caps", str(after))


def verify_description(files: Files) -> Iterator[Claim]:
    """`bundle.json` says of every file and of the run what the files themselves say."""
    stated = json_object(files, BUNDLE)
    derived = description(files)
    entries = {str(as_object(e).get("name")): e for e in as_list(stated.get("files"))}
    for entry in derived["files"]:
        if entries.get(entry["name"]) != entry:
            yield contradicted(BUNDLE, f"describes {entry['name']} otherwise than it is")
    for key in sorted(derived.keys() | stated.keys()):
        if stated.get(key) != derived.get(key) and key != "files":
            yield contradicted(BUNDLE, f"{key} is stated as {stated.get(key)!r}")
    extra = sorted(entries.keys() - {entry["name"] for entry in derived["files"]})
    if extra or len(as_list(stated.get("files"))) != len(entries):
        yield contradicted(BUNDLE, "describes files that are not there, or one twice")
    if stated == derived:
        yield verified(BUNDLE, "kinds, sizes, digests and the run are described as they are")


def verify_attachments(record: Record) -> Iterator[Claim]:
    """Files that are too large for a bundle lie behind a URL: whoever fetches one can hash it."""
    for file in record.files:
        if file.source_url:
            digest = file.sha256 or "not stated"
            yield incomplete(f"attachment {file.name}", f"elsewhere; its SHA-256 is {digest}")


def verify_record_files(files: Files) -> Iterator[Claim]:
    """The record is the newest update, and every file that it lists is there with its digest."""
    updates = sorted((p for p in files if p.startswith(f"{UPDATES}/")), key=update_number)
    numbers = [update_number(path) for path in updates]
    if numbers == list(range(1, len(numbers) + 1)) and numbers:
        yield verified(UPDATES, f"{len(updates)} updates, none left out")
    else:
        yield contradicted(UPDATES, f"the updates are numbered {numbers}")
    if updates and files[updates[-1]] != files[RECORD]:
        yield contradicted(RECORD, f"is not the newest update, {updates[-1]}")
    for name, digest in expected_files(files).items():
        path = in_evidence(name)
        if path not in files:
            yield contradicted(path, "is listed by the record, but missing")
        elif digest:
            yield agree(path, "SHA-256", digest, str(files.sha256(path)))
