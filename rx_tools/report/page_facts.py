"""The facts of a page that need reading or hashing: evidence files, evaluators, versions, lanes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.errors import RxError
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.evidence.strict_json import read_document
from rx_tools.evidence.timeline import timeline
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.record import ListedFile
from rx_tools.planning import evidence_names as names
from rx_tools.report.run_view import RunView


@dataclass(frozen=True, slots=True)
class FileFacts:
    """An evidence file. `known` says what the ledger makes of its digest."""

    name: str
    kind: str
    size: int
    sha256: str
    known: str


@dataclass(frozen=True, slots=True)
class EvaluatorFacts:
    """A frozen evaluator; `recomputed` says whether its id is the hash of its provenance."""

    items: str
    id: str
    n_items: int
    recomputed: bool
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """Work between two moments; `kind` is `probe`, `train` or `score`."""

    kind: str
    begun: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Lane:
    """One row of the picture of when who worked."""

    name: str
    spans: tuple[Span, ...]


def evidence_facts(view: RunView) -> list[FileFacts]:
    """Every published file, with size and digest as they are now."""
    if not view.run.evidence.is_dir():
        return []
    announced = timeline(view.lines).announced
    listed = {one.name: one for one in view.record.files if one.name}
    files = sorted(path for path in view.run.evidence.iterdir() if not path.name.startswith("."))
    return [file_facts(path, listed.get(path.name), announced.get(path.name, ())) for path in files]


def file_facts(
    path: Path, listed: ListedFile | None, announced: Sequence[tuple[int, str]]
) -> FileFacts:
    """One file against what the ledger announced and what the newest record lists."""
    digest, size = sha256_file(path), path.lstat().st_size
    said = [(f"ledger line {seq}", known) for seq, known in announced]
    said += [("the record", listed.sha256)] if listed and listed.sha256 else []
    other = [f"differs from {who}" for who, known in said if known != digest]
    known = (other or [who for who, _ in said] or ["nothing yet"])[0]
    return FileFacts(path.name, (listed and listed.kind) or "", size, digest, known)


def evaluator_facts(lines: Sequence[LedgerLine]) -> list[EvaluatorFacts]:
    """Every evaluator that was frozen, in order."""
    return [
        one_evaluator(line.data, as_object(line.data.get("provenance")))
        for line in lines
        if line.event == "evaluator_frozen"
    ]


def one_evaluator(data: Mapping[str, Any], provenance: Mapping[str, Any]) -> EvaluatorFacts:
    """One evaluator, its id recomputed."""
    stated = as_text(data.get("evaluator_id"))
    try:
        same = evaluator_id(dict(provenance)) == stated
    except (RxError, ValueError, TypeError):
        same = False
    items = as_object(provenance.get("items"))
    shown = {key: value for key, value in provenance.items() if key != "items"}
    n_items = len(as_list(items.get("ids")))
    return EvaluatorFacts(as_text(data.get("items")), stated, n_items, same, shown)


def versions(view: RunView) -> list[str]:
    """The lines of the published code revision."""
    path = view.run.newest(names.REVISION)
    return path.read_text("utf-8", "replace").splitlines() if path else []


def service(view: RunView) -> dict[str, str]:
    """Who served the run, as the preflight found it."""
    path = view.run.newest(names.SERVICE)
    if path is None:
        return {}
    try:
        identity = as_object(as_object(read_document(path).value).get("identity"))
    except RxError:
        return {}
    return {key.replace("_", " "): str(value) for key, value in identity.items()}


STARTS = {"probe_started": "probe", "arm_started": "train", "scoring_started": "score"}
ENDS = {
    "probe_finished": "probe",
    "arm_finished": "train",
    "arm_stopped": "train",
    "arm_scored": "score",
}


def lanes(lines: Sequence[LedgerLine]) -> list[Lane]:
    """When the preflight and each arm worked; what has not ended lasts until the last line."""
    spans: dict[str, list[Span]] = {}
    open_since: dict[tuple[str, str], datetime] = {}
    for line in lines:
        name = str(line.data.get("arm") or "preflight")
        if kind := STARTS.get(line.event):
            open_since.setdefault((name, kind), line.moment)
            spans.setdefault(name, [])
        elif kind := ENDS.get(line.event):
            begun = open_since.pop((name, kind), line.moment)
            spans.setdefault(name, []).append(Span(kind, begun, line.moment))
    for (name, kind), begun in open_since.items():
        spans[name].append(Span(kind, begun, lines[-1].moment))
    return [Lane(name, tuple(own)) for name, own in spans.items() if own]
