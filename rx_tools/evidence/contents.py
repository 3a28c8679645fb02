"""What goes into a bundle: the published documents of a run directory, and nothing else.

Private work (adapters, optimizer states, training text, the server's store) never lies among
them, so it cannot get in.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.evidence.budget import Budget, require_room
from rx_tools.evidence.digest import Files, read_file, sha256_of
from rx_tools.evidence.layout import (
    CLEARANCE_NAME,
    EVIDENCE,
    FOLDERS,
    LEDGER,
    ORIGINAL_SPEC,
    RECORD,
    REQUIRED,
    RUN,
    UPDATES,
    in_evidence,
    is_expected,
    update_number,
)
from rx_tools.evidence.ledger_reading import LedgerReading, judge_ledger
from rx_tools.evidence.names import check_name, twin_of
from rx_tools.evidence.secrets import refuse_secrets
from rx_tools.evidence.strict_json import parse_document
from rx_tools.model.json import as_object, as_text
from rx_tools.model.record import Record

WRITTEN = "bundle_written"


def collect(run_dir: Path) -> dict[str, bytes]:
    """Path in the bundle → bytes, without `bundle.json` and the manifest.

    Raises `UnverifiedError` when a document or a retained file is missing, `IntegrityError` when
    one does not have the digest that the record states or when the ledger is damaged.
    """
    contents = {name: read(run_dir / name) for name in published_names(run_dir)}
    missing = [name for name in REQUIRED if name not in contents]
    if missing:
        hint = "is this a run directory? `rx preflight` and `rx run` make one"
        raise UnverifiedError(f"there is no {missing[0]}", where=str(run_dir), hint=hint)
    if not as_text(json_object(contents, RUN).get("run_id")):
        hint = "restore it from an earlier bundle"
        raise IntegrityError("names no run_id", where=str(run_dir / RUN), hint=hint)
    updates = [path for path in contents if path.startswith(f"{UPDATES}/")]
    if not updates:
        hint = "the first update is written when the run starts"
        raise UnverifiedError("there is no record yet", where=str(run_dir), hint=hint)
    contents[RECORD] = contents[max(updates, key=update_number)]
    contents[LEDGER] = snapshot(contents[LEDGER], run_dir / LEDGER)
    check_evidence(contents, run_dir)
    for path, data in contents.items():
        refuse_secrets(path, data)
    return contents


def published_names(run_dir: Path) -> list[str]:
    """The paths that belong into a bundle, of those that are there."""
    fixed = [name for name in (*REQUIRED, ORIGINAL_SPEC) if (run_dir / name).exists()]
    clearances = [p.name for p in run_dir.glob("clearance-*.json") if is_clearance(p)]
    published = [
        f"{folder}/{path.name}"
        for folder in FOLDERS
        if (run_dir / folder).is_dir()
        for path in (run_dir / folder).iterdir()
        if not path.name.startswith(".")
    ]
    strangers = [path for path in published if not is_expected(path)]
    if strangers:
        raise IntegrityError("belongs into no bundle", where=str(run_dir / strangers[0]))
    return sorted([*fixed, *clearances, *published])


def is_clearance(path: Path) -> bool:
    """Whether a file is named like a clearance."""
    return CLEARANCE_NAME.fullmatch(path.name) is not None


def read(path: Path) -> bytes:
    """The bytes of a regular file, never through a link."""
    return read_file(path)


def snapshot(ledger: bytes, place: Path) -> bytes:
    """The acknowledged lines, without notes of earlier bundles at the end.

    Leaving those out makes a second bundle of the same run identical to the first.
    """
    reading = judge_ledger(ledger)
    if reading.damage:
        raise IntegrityError(f"the ledger is damaged: {reading.damage[0]}", where=str(place))
    lines = ledger.split(b"\n")[: kept_lines(reading)]
    return b"".join(line + b"\n" for line in lines)


def kept_lines(reading: LedgerReading) -> int:
    """How many lines stand before the trailing notes of bundles."""
    count = len(reading.lines)
    while count and reading.lines[count - 1].event == WRITTEN:
        count -= 1
    return count


def check_evidence(contents: Mapping[str, bytes], run_dir: Path) -> None:
    """Raise unless the evidence is within its caps and is what the record says it is."""
    evidence = {path.partition("/")[2]: data for path, data in contents.items() if is_in(path)}
    for name in evidence:
        check_name(name)
        twin = twin_of(name, evidence)
        if twin:
            raise IntegrityError(f"{name} and {twin} collide where case is ignored")
    require_room(Budget(0, 0), {name: len(data) for name, data in evidence.items()})
    for name, expected in expected_files(contents).items():
        if name not in evidence:
            where = str(run_dir / in_evidence(name))
            raise UnverifiedError("the record lists this file, but it is missing", where=where)
        if expected and sha256_of(evidence[name]) != expected:
            where = str(run_dir / in_evidence(name))
            raise IntegrityError(
                f"does not have the SHA-256 of the record, {expected}", where=where
            )


def is_in(path: str) -> bool:
    """Whether a path is that of an evidence file."""
    return path.startswith(f"{EVIDENCE}/")


def expected_files(contents: Mapping[str, bytes]) -> dict[str, str]:
    """Evidence files that must lie in the bundle → digest of the record (empty: not stated).

    Inline files and files behind a URL are not among them.
    """
    listed = Record.of(json_object(contents, RECORD)).files
    wanted = [file for file in listed if file.name and file.content is None and not file.source_url]
    return {str(file.name): file.sha256 or "" for file in wanted}


def evidence_kinds(record: Record) -> dict[str, str]:
    """File name → kind, as the record lists them."""
    return {file.name: file.kind for file in record.files if file.name and file.kind}


def json_object(contents: Mapping[str, bytes], path: str) -> Mapping[str, Any]:
    """A document of the bundle as an object; of a whole bundle the same one every time."""
    if isinstance(contents, Files):
        return contents.once(read_object, path)
    return read_object(contents[path], path)


def read_object(data: bytes, path: str) -> Mapping[str, Any]:
    """Bytes as an object."""
    return as_object(parse_document(data, path).value)
