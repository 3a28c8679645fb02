"""From the command line to an open workbench: run directory, ledger, service and data."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rx_tools.cli.console import say
from rx_tools.cli.serving import serving, stage
from rx_tools.errors import IntegrityError
from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.run_dir import RunDir, open_run_dir, refuse_bundle
from rx_tools.evidence.strict_json import read_document
from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.choosing import choose
from rx_tools.model.json import as_object
from rx_tools.planning import questions
from rx_tools.planning.deviate import Change
from rx_tools.runner.arms.events import Event, nobody
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.data.prepare import prepare, served_tokenizer
from rx_tools.runner.service import TrainingService
from rx_tools.runner.whole.begin import Request, begin, default_run_dir
from rx_tools.runner.whole.experiment import patient
from rx_tools.runner.whole.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options of `preflight`, `train` and `run` say."""

    spec: Path | None
    run_dir: Path | None
    rehearse: bool = False
    like: str | None = None
    plan: Path | None = None
    answers: Path | None = None
    data: Path | None = None
    resume: bool = False
    quiet: bool = False
    changes: Sequence[Change] = ()
    faults: Sequence[str] = ()
    watch: Callable[[Event], None] = nobody
    stop: StopSignal = field(default_factory=StopSignal)


def now() -> datetime:
    """The wall clock, in UTC."""
    return datetime.now(UTC)


def answers_in(path: Path | None) -> Mapping[str, Any]:
    """The answers file, empty without one."""
    return questions.answers_in(read_document(path).value, str(path)) if path else {}


def new_run(asked: Asked, spec: Path) -> tuple[RunDir, Ledger]:
    """Create the run directory and say where it is."""
    choose((), asked.like)
    request = Request(
        spec=spec,
        answers=answers_in(asked.answers),
        plan=asked.plan,
        stage=stage() if asked.rehearse or asked.like else None,
        like=asked.like,
        changes=asked.changes,
    )
    path = asked.run_dir or default_run_dir(spec, now())
    run, ledger = begin(request, path, now)
    say(f"run directory: {run.path}")
    return run, ledger


def old_run(asked: Asked) -> tuple[RunDir, Ledger]:
    """Open a run that exists; a spec that is not its own is refused."""
    run = open_run_dir(asked.run_dir)
    refuse_bundle(run.path)
    if asked.spec is not None:
        given = read_document(asked.spec).sha256
        if given != run.original_spec.sha256:
            raise IntegrityError(
                "is not the spec of this run",
                where=str(asked.spec),
                hint=f"the run at {run.path} was made from {run.meta.get('spec_file')}",
            )
    return run, Ledger.open(run.ledger_path, now, run_id=run.run_id)


def opened(asked: Asked) -> tuple[RunDir, Ledger]:
    """The run that exists at the place asked for, else a new one."""
    place = asked.run_dir or Path()
    if asked.spec is None or (asked.resume and (place / "run.json").is_file()):
        return old_run(asked)
    return new_run(asked, asked.spec)


@contextmanager
def workbench(asked: Asked) -> Iterator[Workbench]:
    """An open run with its service connected and its data prepared."""
    run, ledger = opened(asked)
    run.work.mkdir(exist_ok=True)
    with ledger, serving_for(run, asked) as service:
        bench = Workbench(
            run=run,
            ledger=ledger,
            service=service,
            data=prepare(run.plan, as_object(run.spec.value), tokenizer(run, service), asked.data),
            timer=time.monotonic,
            tell=(lambda line: None) if asked.quiet else say,
            watch=asked.watch,
        )
        yield patient(bench, asked.stop)


def tokenizer(run: RunDir, service: TrainingService) -> Path | str:
    """The built-in one in a rehearsal, else what the service names for the base model."""
    if run.rehearsal:
        return tokenizer_folder()
    return served_tokenizer(service, run.plan, as_object(run.spec.value))


def serving_for(run: RunDir, asked: Asked) -> AbstractContextManager[TrainingService]:
    """The service of this run: the embedded one in a rehearsal, else the environment's."""
    like = run.meta.get("like")
    os.environ.setdefault("TINKER_TELEMETRY", "0")
    return serving(
        run.work,
        rehearse=run.rehearsal,
        like=str(like) if like else None,
        faults=asked.faults,
    )
