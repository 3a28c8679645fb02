"""The run directory: where everything of one run lies, and how it is read and opened.

`run.json`, `spec.json` (the judged spec; the derived one in a rehearsal), `original.spec.json`
(rehearsals only), `plan.json`, `ledger.jsonl`, `clearance-<n>.json`, `updates/record-<n>.json`,
`evidence/` (published, immutable) and `work/` (private, never bundled).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rx_tools import __version__
from rx_tools.checks.shape import judge_shape
from rx_tools.errors import IntegrityError, UsageError
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.layout import MANIFEST
from rx_tools.evidence.publish import Published, publish
from rx_tools.evidence.strict_json import Document, read_document
from rx_tools.model.json import JsonObject, as_object, as_text
from rx_tools.model.names import Sha256
from rx_tools.model.result import Level
from rx_tools.planning.plan import Plan

SCHEMA = "urn:rx:schema:run:1"
ZIP = b"PK"


@dataclass(frozen=True)
class RunDir:
    """One run directory. Reading properties never change anything on the disk."""

    path: Path

    @property
    def ledger_path(self) -> Path:
        """The append-only ledger."""
        return self.path / "ledger.jsonl"

    @property
    def evidence(self) -> Path:
        """The folder of published evidence."""
        return self.path / "evidence"

    @property
    def updates(self) -> Path:
        """The folder of record updates."""
        return self.path / "updates"

    @property
    def work(self) -> Path:
        """Private files: adapters, states, the embedded service's store."""
        return self.path / "work"

    @cached_property
    def meta(self) -> JsonObject:
        """`run.json`."""
        return as_object(read_document(self.path / "run.json").value)

    @property
    def run_id(self) -> str:
        """The run's own name, in every ledger line."""
        run_id = as_text(self.meta.get("run_id"))
        if run_id:
            return run_id
        raise IntegrityError(
            "names no run_id", where=str(self.path / "run.json"), hint="restore it from the bundle"
        )

    @property
    def rehearsal(self) -> bool:
        """Whether the run is a rehearsal on the embedded service."""
        return self.meta.get("rehearsal") is True

    @cached_property
    def spec(self) -> Document:
        """The spec that the gates judge against."""
        return read_document(self.path / "spec.json")

    @cached_property
    def original_spec(self) -> Document:
        """The spec as it was handed out."""
        original = self.path / "original.spec.json"
        return read_document(original) if original.exists() else self.spec

    @cached_property
    def plan(self) -> Plan:
        """The frozen plan; a file that is none is named, with the first place that is wrong."""
        path = self.path / "plan.json"
        document = read_document(path).value
        findings = judge_shape(document, "plan", "plan")
        wrong = [finding for finding in findings if finding.level is Level.ERROR]
        if wrong:
            what = f"is no plan: {wrong[0].json_path}: {wrong[0].message}"
            raise IntegrityError(what, where=str(path), hint="restore it from the bundle")
        return Plan.from_json(document)

    @property
    def plan_sha256(self) -> Sha256:
        """Digest of the plan as it lies on the disk now."""
        return sha256_file(self.path / "plan.json")

    @property
    def spec_sha256(self) -> Sha256:
        """Digest of the judged spec as it lies on the disk now."""
        return sha256_file(self.path / "spec.json")

    def record_paths(self) -> list[Path]:
        """Every update, oldest first."""
        return sorted(self.updates.glob("record-*.json"), key=by_number)

    def record(self, number: int | None = None) -> JsonObject:
        """The newest update, or the one of that number; empty where there is none."""
        paths = self.record_paths()
        wanted = paths[-1:] if number is None else paths[max(number - 1, 0) : max(number, 0)]
        return as_object(read_document(wanted[0]).value) if wanted else {}

    def clearance_paths(self) -> list[Path]:
        """Every clearance, oldest first."""
        return sorted(self.path.glob("clearance-*.json"), key=by_number)

    def put_evidence(self, name: str, content: bytes) -> Published:
        """Publish one evidence file under a name that is used once."""
        self.evidence.mkdir(exist_ok=True)
        return publish(self.evidence, name, content)

    def unused_name(self, name: str) -> str:
        """`name`, or with `-2`, `-3` … before its ending when it is taken."""
        stem, dot, ending = name.partition(".")
        names = [name, *(f"{stem}-{number}{dot}{ending}" for number in range(2, 1000))]
        return next(name for name in names if not (self.evidence / name).exists())

    def newest(self, name: str) -> Path | None:
        """The newest version of an evidence file: the highest number of its name."""
        stem, dot, ending = name.partition(".")
        numbered = {
            int(path.name[len(stem) + 1 : -len(dot + ending)]): path
            for path in self.evidence.glob(f"{stem}-*{dot}{ending}")
            if path.name[len(stem) + 1 : -len(dot + ending)].isdecimal()
        }
        first = self.evidence / name
        if first.exists():
            numbered[1] = first
        return numbered[max(numbered)] if numbered else None


def by_number(path: Path) -> tuple[int, str]:
    """Sorts numbered names by their number: a longer one is a greater one."""
    return len(path.name), path.name


def pretty(document: Mapping[str, Any]) -> bytes:
    """A document as the bytes that are published: indented, finite numbers only."""
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def create_run_dir(
    path: Path,
    *,
    run_id: str,
    experiment: str,
    spec: bytes,
    plan: Plan,
    original: bytes | None = None,
    rehearsal: bool = False,
    like: str | None = None,
    original_name: str = "",
) -> RunDir:
    """Create the directory with spec and plan; a directory that holds a run is refused."""
    if (path / "run.json").exists():
        raise UsageError(
            "holds a run already", where=str(path), hint="choose another --run-dir, or --resume"
        )
    path.mkdir(parents=True, exist_ok=True)
    for folder in ("evidence", "updates", "work"):
        (path / folder).mkdir(exist_ok=True)
    publish(path, "spec.json", spec)
    if original is not None:
        publish(path, "original.spec.json", original)
    publish(path, "plan.json", pretty(plan.to_json()))
    meta = {
        "schema": SCHEMA,
        "rx_version": __version__,
        "run_id": run_id,
        "experiment": experiment,
        "rehearsal": rehearsal,
        "like": like,
        "spec_file": original_name,
    }
    publish(path, "run.json", pretty(meta))
    return RunDir(path)


def open_run_dir(path: Path | None) -> RunDir:
    """The run at `path`, else around the current directory; one line when there is none."""
    place = path or Path()
    if place.is_file() and starts_with(place, ZIP):
        hint = f"`rx verify` reads it as it is; else unpack it: python -m zipfile -e {place} FOLDER"
        raise UsageError("is a zip, where a folder is expected", where=str(place), hint=hint)
    if not (place / "run.json").is_file():
        raise UsageError(
            "is no run directory (it has no run.json)",
            where=str(place.resolve() if path is None else place),
            hint="`rx preflight SPEC` makes one; name it with --run-dir",
        )
    return RunDir(place)


def refuse_bundle(place: Path) -> None:
    """Raise `UsageError` before something is written into a bundle, which never changes."""
    if (place / MANIFEST).exists():
        hint = "name the run directory that it was made from"
        raise UsageError("is a bundle, which never changes", where=str(place), hint=hint)


def starts_with(path: Path, magic: bytes) -> bool:
    """Whether a file begins with these bytes."""
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def expect(name: str, found: str, wanted: str) -> None:
    """Two digests that must be equal; the error names both."""
    if found != wanted:
        raise IntegrityError(
            f"{name} is {found[:12]}…, but {wanted[:12]}… was frozen",
            where=name,
            hint="it was changed after the run began; start a new run",
        )
