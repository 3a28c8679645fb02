"""Opening a run: the directory, the ledger's first lines, and what is published at once."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

from rx_tools import __version__
from rx_tools.checks.kinds import Kind
from rx_tools.errors import IntegrityError
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.ledger import Clock, Ledger
from rx_tools.evidence.run_dir import RunDir, create_run_dir, pretty
from rx_tools.evidence.wanted import read_as
from rx_tools.model.json import as_object
from rx_tools.model.names import Sha256
from rx_tools.planning import evidence_names as names
from rx_tools.planning.derive import derive, frozen
from rx_tools.planning.deviate import Change
from rx_tools.planning.effective import effective_document
from rx_tools.planning.from_plan import answers_of
from rx_tools.planning.names import experiment_name
from rx_tools.planning.plan import SCHEMA as PLAN_SCHEMA
from rx_tools.planning.plan import Plan
from rx_tools.planning.plan_shape import refuse_misshapen
from rx_tools.planning.rehearsal import ANSWERS, Stage
from rx_tools.runner.whole.judged import JudgedSpec, judged_spec


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for: the spec, answers, a rehearsal's stage, declared changes."""

    spec: Path
    answers: Mapping[str, Any]
    plan: Path | None
    stage: Stage | None
    like: str | None
    changes: Sequence[Change] = ()


def default_run_dir(spec: Path, now: datetime) -> Path:
    """`runs/<experiment>-<UTC time>`."""
    return Path("runs") / f"{experiment_name(spec.name)}-{now:%Y%m%dT%H%M%SZ}"


def begin(request: Request, path: Path, clock: Clock) -> tuple[RunDir, Ledger]:
    """Create the run directory and its ledger; nothing runs before the plan is frozen."""
    judged = judged_spec(request.spec, request.changes, request.stage)
    name = experiment_name(request.spec.name)
    run = create_run_dir(
        path,
        run_id=f"{name}-{secrets.token_hex(4)}",
        experiment=name,
        spec=judged.content,
        plan=planned(request, judged),
        original=judged.original if judged.deviations else None,
        rehearsal=request.stage is not None,
        like=request.like,
        original_name=request.spec.name,
    )
    ledger = Ledger.create(run.ledger_path, run.run_id, clock)
    open_ledger(run, ledger, request, judged)
    return run, ledger


def planned(request: Request, judged: JudgedSpec) -> Plan:
    """The plan that the spec yields with the answers given, those of a handed-in plan included."""
    digest = sha256_of(judged.content)
    given = handed_in(request.plan, (digest, sha256_of(judged.original)))
    answers = answers_of(given) if given else {}
    answers = (dict(ANSWERS) if request.stage else {}) | answers | dict(request.answers)
    derivation = derive(
        judged.value,
        digest,
        experiment=experiment_name(request.spec.name),
        answers=answers,
        derived_from=judged.derived_from,
    )
    plan = frozen(derivation)
    refuse_misshapen(plan, str(request.spec))
    if given and given.spec_sha256 == digest:
        refuse_edited(given, plan, request.plan)
    return plan


def refuse_edited(given: Plan, derived: Plan, path: Path | None) -> None:
    """A plan that its own answers do not lead to was edited."""
    if given != replace(derived, experiment=given.experiment):
        raise IntegrityError(
            "does not follow from the spec and its own answers",
            where=str(path),
            hint="it was edited; write it again with `rx plan SPEC -o PLAN`",
        )


def handed_in(path: Path | None, digests: tuple[Sha256, ...]) -> Plan | None:
    """The plan of `--plan`; one that was made for another spec is refused."""
    if path is None:
        return None
    document = as_object(read_as(path, Kind.PLAN).value)
    problems = [] if document.get("schema") == PLAN_SCHEMA else [f"is no {PLAN_SCHEMA}"]
    if problems or document.get("spec_sha256") not in digests:
        raise IntegrityError(
            (problems or ["is the plan of another spec"])[0],
            where=str(path),
            hint="write one with `rx plan SPEC -o PLAN`",
        )
    try:
        return Plan.from_json(document)
    except (TypeError, KeyError) as error:
        raise IntegrityError(f"is no whole plan: {error}", where=str(path)) from error


def open_ledger(run: RunDir, ledger: Ledger, request: Request, judged: JudgedSpec) -> None:
    """The first lines: run, plan, deviations; and the evidence that exists from the start."""
    data = {"experiment": run.meta["experiment"], "rehearsal": run.rehearsal, "like": request.like}
    files = {"spec.json": run.spec_sha256}
    if judged.derived_from:
        files["original.spec.json"] = judged.derived_from
    ledger.append("run_created", data, files)
    frozen_plan = {"plan.json": run.plan_sha256}
    ledger.append("plan_frozen", {"readings": dict(run.plan.readings)}, frozen_plan)
    ledger.append("deviations_declared", judged.declaration)
    run.put_evidence(names.SCRIPT, script(request).encode())
    run.put_evidence(names.CONFIG, pretty(effective_document(run.plan.to_json())))
    run.put_evidence(names.REVISION, revision(request).encode())


def script(request: Request) -> str:
    """The command that runs this again; credentials come from the environment."""
    rehearse = " --rehearse" if request.stage else ""
    like = f" --like {request.like}" if request.like else ""
    like += "".join(f" --deviate {quote(f'{one.name}={one.effective}')}" for one in request.changes)
    return (
        "#!/bin/sh\n"
        "# Reads TINKER_BASE_URL, TINKER_API_KEY and the proxy tokens from the environment.\n"
        f"rx run {quote(request.spec.name)}{rehearse}{like}\n"
    )


def revision(request: Request) -> str:
    """Versions of everything that executes."""
    from rx_tools.runner.whole.versions import installed_versions

    lines = [f"rx-tools {__version__}"]
    lines += [f"{name} {version}" for name, version in installed_versions().items()]
    if request.stage:
        lines.append(f"service {request.stage.revision} (embedded, rehearsal)")
    return "\n".join(lines) + "\n"
