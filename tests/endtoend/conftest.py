import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.endtoend.small import rx, write_small


@dataclass(frozen=True)
class Rehearsed:
    """One finished rehearsal of the small experiment."""

    folder: Path
    spec: Path
    run: Path
    output: str

    @property
    def bundle(self):
        return self.run.with_name(self.run.name + ".bundle")

    @property
    def record(self):
        return json.loads(sorted((self.run / "updates").glob("*.json"))[-1].read_text())


@pytest.fixture(scope="session")
def rehearsed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rehearsed")
    spec, run = write_small(folder), folder / "run"
    done = rx("run", spec, "--rehearse", "--run-dir", run, cwd=folder, check=0)
    return Rehearsed(folder, spec, run, done.stdout)
