"""Opening a run: the directory, the ledger's first lines, and what is published at once."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rx_tools import __version__
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.ledger import Clock, Ledger
from rx_tools.evidence.run_dir import RunDir, create_run_dir, pretty
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.json import as_object
from rx_tools.model.names import Sha256
from rx_tools.planning import evidence_names as names
from rx_tools.planning.derive import derive, frozen
from rx_tools.planning.plan import Plan
from rx_tools.planning.rehearsal import (
    ANSWERS,
    Stage,
    derived_spec,
    deviations,
    tested_instead,
)

PLAN_FREE = {"schema", "rx_version"}


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for: the spec, answers, and whether it is a rehearsal."""

    spec: Path
    answers: Mapping[str, Any]
    plan: Path | None
    stage: Stage | None
    like: str | None


def experiment_name(spec: Path) -> str:
    """The experiment's id: the file name up to its first dot."""
    return spec.name.split(".")[0] or "experiment"


def default_run_dir(spec: Path, now: datetime) -> Path:
    """`runs/<experiment>-<UTC time>`."""
    return Path("runs") / f"{experiment_name(spec)}-{now:%Y%m%dT%H%M%SZ}"


def begin(request: Request, path: Path, clock: Clock) -> tuple[RunDir, Ledger]:
    """Create the run directory and its ledger; nothing runs before the plan is frozen."""
    original = request.spec.read_bytes()
    spec, content = judged_spec(request, original)
    plan = planned(request, spec, sha256_of(content), original)
    run = create_run_dir(
        path,
        run_id=f"{experiment_name(request.spec)}-{secrets.token_hex(4)}",
        experiment=experiment_name(request.spec),
        spec=content,
        plan=plan,
        original=original if request.stage else None,
        like=request.like,
        original_name=request.spec.name,
    )
    ledger = Ledger.create(run.ledger_path, run.run_id, clock)
    open_ledger(run, ledger, request, original)
    return run, ledger


def judged_spec(request: Request, original: bytes) -> tuple[dict[str, Any], bytes]:
    """The spec that the gates judge, and its bytes: the original's own, or the derived copy's."""
    spec = dict(as_object(read_document(request.spec).value))
    if request.stage is None:
        return spec, original
    derived = derived_spec(spec, sha256_of(original), request.stage)
    return derived, pretty(derived)


def planned(request: Request, spec: dict[str, Any], digest: Sha256, original: bytes) -> Plan:
    """The plan that was handed in, if it is of this spec, else the one that the spec yields."""
    answers = dict(request.answers)
    if request.stage:
        answers = dict(ANSWERS) | answers
    derivation = derive(
        spec,
        digest,
        experiment=experiment_name(request.spec),
        answers=answers,
        derived_from=sha256_of(original) if request.stage else None,
    )
    return frozen(derivation)


def open_ledger(run: RunDir, ledger: Ledger, request: Request, original: bytes) -> None:
    """The first lines: run, plan, deviations; and the evidence that exists from the start."""
    data = {"experiment": run.meta["experiment"], "rehearsal": run.rehearsal, "like": request.like}
    files = {"spec.json": run.spec_sha256}
    if request.stage:
        files["original.spec.json"] = sha256_of(original)
    ledger.append("run_created", data, files)
    ledger.append(
        "plan_frozen", {"readings": dict(run.plan.readings)}, {"plan.json": run.plan_sha256}
    )
    ledger.append("deviations_declared", declaration(request, run))
    run.put_evidence(names.SCRIPT, script(request, run).encode())
    run.put_evidence(names.CONFIG, pretty(config(run)))
    run.put_evidence(names.REVISION, revision(run, request).encode())


def declaration(request: Request, run: RunDir) -> dict[str, Any]:
    """The deviations, declared before anything trains, and what they do to the hypothesis."""
    if request.stage is None:
        return {"deviations": [], "original_hypothesis_tested": True}
    changed = deviations(as_object(run.original_spec.value), request.stage)
    return {
        "deviations": changed,
        "original_hypothesis_tested": False,
        "tested_instead": tested_instead(request.stage, changed),
    }


def script(request: Request, run: RunDir) -> str:
    """The command that runs this again; credentials come from the environment."""
    rehearse = " --rehearse" if request.stage else ""
    like = f" --like {request.like}" if request.like else ""
    return (
        "#!/bin/sh\n"
        "# Reads TINKER_BASE_URL, TINKER_API_KEY and the proxy tokens from the environment.\n"
        f"rx run {request.spec.name}{rehearse}{like}\n"
    )


def config(run: RunDir) -> dict[str, Any]:
    """The effective configuration: the nine keys and everything that the plan froze."""
    plan = run.plan.to_json()
    frozen_parts = {key: value for key, value in plan.items() if key not in PLAN_FREE}
    return {"effective_config": dict(run.plan.effective_config), "plan": frozen_parts}


def revision(run: RunDir, request: Request) -> str:
    """Versions of everything that executes."""
    from rx_tools.runner.versions import installed_versions

    lines = [f"rx-tools {__version__}"]
    lines += [f"{name} {version}" for name, version in installed_versions().items()]
    if request.stage:
        lines.append(f"service {request.stage.revision} (embedded, rehearsal)")
    return "\n".join(lines) + "\n"


def plan_answers(path: Path | None) -> Mapping[str, Any]:
    """The answers file of `--answers`, empty without one."""
    return as_object(read_document(path).value) if path else {}


def same_plan(given: Path, derived: Plan) -> bool:
    """Whether a plan handed in with `--plan` is this spec's plan."""
    document = as_object(read_document(given).value)
    return bool(json.loads(json.dumps(derived.to_json())) == document)
