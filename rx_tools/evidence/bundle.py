"""Pack the evidence of a run: the same run gives the same bytes anywhere and at any time."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.evidence.archive import zip_bytes
from rx_tools.evidence.canonical import document
from rx_tools.evidence.contents import collect, evidence_kinds, is_in, json_object
from rx_tools.evidence.digest import Files, sha256_of
from rx_tools.evidence.folders import locked, sync_folder, try_lock
from rx_tools.evidence.layout import (
    BUNDLE,
    CLEARANCE_NAME,
    LEDGER,
    MANIFEST,
    ORIGINAL_SPEC,
    PLAN,
    RECORD,
    RUN,
    SPEC,
    UPDATES,
)
from rx_tools.evidence.ledger_reading import judge_ledger
from rx_tools.evidence.manifest import manifest_text
from rx_tools.evidence.publish import disk_errors, link, temporary, writable
from rx_tools.evidence.tree import open_tree
from rx_tools.model.names import Sha256
from rx_tools.model.record import Record

SCHEMA = "urn:rx:schema:bundle:1"
TEMPORARY = ".rx-bundling-"
DATE = 315532800
"""1980-01-01 in UTC, the earliest that a zip can say: the time of every packed file."""
KIND_OF = {
    RUN: "run",
    SPEC: "spec",
    ORIGINAL_SPEC: "original_spec",
    PLAN: "plan",
    LEDGER: "ledger",
    RECORD: "record",
}


@dataclass(frozen=True, slots=True)
class BundleInfo:
    """A finished bundle. `root_digest` is the SHA-256 of its manifest; `size` is in bytes."""

    path: Path
    root_digest: Sha256
    files: int
    size: int
    run_id: str


def bundle(run_dir: Path, out: Path, zip: bool = False) -> BundleInfo:
    """Pack `run_dir` into the new directory `out`, or into a zip file of that name.

    Raises `UnverifiedError` while something is missing, `IntegrityError` when something does not
    match or when `out` exists (it tells the root digest that is there), `DiskError` when the
    disk gives out. Whatever happens, `out` is either whole or not there.
    """
    contents = packed(collect(run_dir))
    root = sha256_of(contents[MANIFEST])
    refuse_existing(out, root)
    write = write_zip if zip else write_folder
    with disk_errors(out.parent, out.name):
        write(out, contents, root)
    size = sum(map(len, contents.values()))
    return BundleInfo(out, root, len(contents), size, str(json_object(contents, RUN)["run_id"]))


def is_bundle_of(place: Path, run_dir: Path) -> bool:
    """Whether `place` is the bundle that `run_dir` gives now, by their root digests."""
    try:
        there = sha256_of(open_tree(place).read(MANIFEST))
    except (IntegrityError, UnverifiedError, OSError):
        return False
    return there == root_digest(run_dir)


def root_digest(run_dir: Path) -> Sha256:
    """The root digest of the bundle that `run_dir` gives now."""
    return sha256_of(packed(collect(run_dir))[MANIFEST])


def packed(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The contents with `bundle.json` and the manifest, sorted by path."""
    files = Files(contents)
    description_bytes = document(description(files))
    digests = {path: files.sha256(path) for path in files} | {BUNDLE: sha256_of(description_bytes)}
    sealed = {**contents, BUNDLE: description_bytes, MANIFEST: manifest_text(digests)}
    return dict(sorted(sealed.items()))


def description(contents: Files) -> dict[str, Any]:
    """`bundle.json`: what lies in the bundle and which documents carry it."""
    run, ledger = json_object(contents, RUN), judge_ledger(contents[LEDGER])
    kinds = evidence_kinds(Record.of(json_object(contents, RECORD)))
    return {
        "schema": SCHEMA,
        "rx_version": run.get("rx_version"),
        "run_id": run.get("run_id"),
        "experiment": run.get("experiment"),
        "rehearsal": run.get("rehearsal"),
        "ledger_head": {"count": ledger.head.count, "sha256": ledger.head.sha256},
        "digests": {KIND_OF[p]: contents.sha256(p) for p in sorted(KIND_OF) if p in contents},
        "files": [
            {
                "name": path,
                "kind": kind_of(path, kinds),
                "size": len(contents[path]),
                "sha256": contents.sha256(path),
            }
            for path in sorted(contents.keys() - {BUNDLE, MANIFEST})
        ],
    }


def kind_of(path: str, evidence: Mapping[str, str]) -> str:
    """What a file is: a document of the run, or the kind that the record gives it."""
    if path.startswith(f"{UPDATES}/"):
        return "update"
    if is_in(path):
        return evidence.get(path.partition("/")[2], "unlisted")
    return "clearance" if CLEARANCE_NAME.fullmatch(path) else KIND_OF[path]


def refuse_existing(out: Path, root: Sha256) -> None:
    """Raise `IntegrityError` if there is something at `out`, with the digest of a bundle there."""
    if not (out.exists() or out.is_symlink()):
        return
    try:
        there = sha256_of(open_tree(out).read(MANIFEST))
    except (IntegrityError, UnverifiedError, OSError):
        raise IntegrityError(
            "there is something else", where=str(out), hint="choose a name that is not taken"
        ) from None
    relation = "the same content" if there == root else f"this run has {root}"
    raise IntegrityError(
        f"there is a bundle already, with root digest {there} ({relation})",
        where=str(out),
        hint="bundles never change: choose another name, or keep that one",
    )


def write_zip(out: Path, contents: Mapping[str, bytes], root: Sha256) -> None:
    """Write the archive beside its future name, then link it without replacing."""
    with temporary(out.parent) as (descriptor, path):
        path.write_bytes(zip_bytes(contents))
        os.fsync(descriptor)
        with locked(out.parent):
            refuse_existing(out, root)
            link(path, out)
            sync_folder(out.parent)


def write_folder(out: Path, contents: Mapping[str, bytes], root: Sha256) -> None:
    """Write the directory beside its future name, then rename it; never onto another bundle."""
    with temporary_folder(out.parent) as folder:
        for path, data in contents.items():
            write_file(folder / path, data)
        for inner in (*{(folder / path).parent for path in contents}, folder):
            sync_folder(inner)
            os.utime(inner, (DATE, DATE))
        with locked(out.parent):
            refuse_existing(out, root)
            folder.rename(out)
            sync_folder(out.parent)


def write_file(path: Path, data: bytes) -> None:
    """Write one synced file with the mode and the time that every bundle has."""
    path.parent.mkdir(exist_ok=True, mode=0o755)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o644)
    os.utime(path, (DATE, DATE))


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """A locked folder beside the future bundle; what is left of it at the end is removed."""
    with locked(parent):
        sweep(parent)
        with writable(parent):
            folder = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=parent))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try_lock(descriptor)
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def sweep(parent: Path) -> None:
    """Remove folders whose writer is gone: nobody holds their lock."""
    for folder in parent.glob(f"{TEMPORARY}*"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        if try_lock(descriptor):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
