"""A stranger's verification of a bundle: offline, and believing nothing that it says of itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rx_tools.checks.validation import judge_all
from rx_tools.errors import ExitCode, IntegrityError, RxError, UnverifiedError
from rx_tools.evidence.claim import Claim, State, contradicted, exit_code, incomplete, verified
from rx_tools.evidence.contents import evidence_kinds, json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import (
    LEDGER,
    MANIFEST,
    PLAN,
    RECORD,
    RUN,
    SPEC,
    UPDATES,
    update_number,
)
from rx_tools.evidence.ledger_reading import judge_ledger
from rx_tools.evidence.timeline import timeline
from rx_tools.evidence.tree import open_tree
from rx_tools.evidence.verify_choice import verify_choice
from rx_tools.evidence.verify_cleared import verify_cleared
from rx_tools.evidence.verify_execution import verify_execution
from rx_tools.evidence.verify_feasibility import verify_feasibility
from rx_tools.evidence.verify_figures import verify_figures, verify_summary
from rx_tools.evidence.verify_files import (
    verify_attachments,
    verify_description,
    verify_files,
    verify_record_files,
    verify_secrets,
)
from rx_tools.evidence.verify_gates import retained, verify_gates, verify_shapes
from rx_tools.evidence.verify_ledger import (
    verify_announced,
    verify_chain,
    verify_order,
    verify_plan,
    verify_run,
)
from rx_tools.evidence.verify_losses import (
    verify_evaluation,
    verify_losses,
    verify_scored,
    verify_scores,
)
from rx_tools.evidence.verify_record import verify_record, verify_updates
from rx_tools.evidence.verify_repeated import verify_repeated
from rx_tools.evidence.verify_sources import verify_sources
from rx_tools.model.json import as_list, as_text
from rx_tools.model.names import Gate, Sha256
from rx_tools.model.record import Record


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. `root_digest` is the SHA-256 of the manifest, empty where there is none."""

    root_digest: Sha256
    claims: tuple[Claim, ...]
    run_id: str = ""

    def of(self, state: State) -> tuple[Claim, ...]:
        """The claims with one answer."""
        return tuple(claim for claim in self.claims if claim.state is state)

    @property
    def exit_code(self) -> ExitCode:
        """0, 3 or 4."""
        return exit_code(self.claims)


def verify(place: Path, *, root: str = "") -> Verification:
    """Verify a bundle, a directory or a zip; `root` is the root digest that one expects.

    Raises `UnverifiedError` when there is no bundle at all; everything else is a claim.
    """
    if (place / RUN).is_file() and not (place / MANIFEST).exists():
        hint = f"`rx bundle {place}` packs a run directory"
        raise UnverifiedError(f"is no bundle: there is no {MANIFEST}", where=str(place), hint=hint)
    try:
        files = open_tree(place).files
    except IntegrityError as error:
        return Verification(Sha256(""), (contradicted("structure", error.what),))
    if MANIFEST not in files:
        raise UnverifiedError(f"is no bundle: there is no {MANIFEST}", where=str(place))
    digest = files.sha256(MANIFEST)
    claims = tuple(claims_of(files, digest, root))
    return Verification(digest, claims, run_id_of(files))


def run_id_of(files: Files) -> str:
    """The run that a bundle says it is of; empty where it does not say."""
    try:
        return as_text(json_object(files, RUN).get("run_id"))
    except (RxError, KeyError):
        return ""


def claims_of(files: Files, digest: Sha256, root: str) -> Iterator[Claim]:
    """Level by level; a level that fails stops those that would stand on it."""
    if root:
        yield expected_root(digest, root)
    hashes = list(verify_files(files))
    yield from hashes
    if exit_code(hashes) is not ExitCode.OK:
        yield incomplete("documents", "not looked at, because the files are not what is listed")
        return
    try:
        yield from document_claims(files)
    except RxError as error:
        yield contradicted("documents", str(error))


def expected_root(digest: Sha256, root: str) -> Claim:
    """The one comparison that fixes every byte, if the expected digest came another way."""
    if digest == root.lower():
        return verified("root digest", f"{digest}, as expected")
    return contradicted("root digest", f"is {digest}, expected was {root}")


def document_claims(files: Files) -> Iterator[Claim]:
    """What the documents say about each other."""
    run, plan, spec = (json_object(files, name) for name in (RUN, PLAN, SPEC))
    record = Record.of(json_object(files, RECORD))
    yield from verify_shapes(files)
    yield from verify_description(files)
    yield from verify_record_files(files)
    yield from verify_attachments(record)
    yield from verify_secrets(files, evidence_kinds(record))
    reading = judge_ledger(files[LEDGER], run=str(run.get("run_id")))
    yield from verify_chain(reading)
    if reading.findings:
        yield incomplete("order", "not looked at, because the ledger is damaged")
        return
    history = timeline(reading.lines)
    yield from verify_announced(history, files)
    yield from verify_run(history, run, record)
    yield verify_plan(history, files, plan)
    yield from verify_order(history, plan)
    yield from verify_cleared(files, history, record)
    yield from verify_record(record, plan, history)
    yield from verify_sources(files, record)
    yield from verify_feasibility(record, plan, spec)
    yield from verify_repeated(files, plan, history)
    updates = sorted((p for p in files if p.startswith(f"{UPDATES}/")), key=update_number)
    yield from verify_updates([(path, json_object(files, path)) for path in updates])
    evidence = retained(files, record)
    yield from verify_losses(record, evidence)
    yield from verify_scored(record, evidence, history)
    yield from verify_evaluation(record, plan, history)
    yield from verify_scores(record, plan)
    yield from verify_choice(record, evidence, plan, history)
    yield from verify_execution(record, plan, history)
    results = judge_all(spec, record, evidence)
    criteria = as_list(results[Gate.DECISION].details.get("criteria"))
    yield from verify_figures(record, evidence, history, criteria)
    yield from verify_summary(record, plan, spec, history, criteria)
    yield from verify_gates(results, record, history)
