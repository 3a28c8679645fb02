"""The GitHub Action and the pre-commit hook: their own commands, in a scratch repository."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests/fixtures"
GOOD, BAD = FIXTURES / "exp_9574bbb76e.spec.json", FIXTURES / "exp_9574bbb76e.run.json"


@pytest.fixture
def repository(tmp_path):
    """A git repository with a good spec, and `rx` on the path."""
    (tmp_path / "bin").mkdir()
    rx = tmp_path / "bin/rx"
    rx.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rx_tools "$@"\n')
    rx.chmod(0o755)
    repo = tmp_path / "repo"
    (repo / "experiments/a b").mkdir(parents=True)
    (repo / "experiments/a b/first.spec.json").write_bytes(GOOD.read_bytes())
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    subprocess.run(["git", "add", "."], cwd=repo, check=True)
    return repo


def run(repository, script, **variables):
    path = f"{repository.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
    )


def action_step(name):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    (step,) = [step for step in action["runs"]["steps"] if step["name"] == name]
    return action, step


def act(repository, files, **inputs):
    """Run the action's step as the runner does: inputs become the declared variables."""
    action, step = action_step("Validate")
    given = {name: spec.get("default", "") for name, spec in action["inputs"].items()}
    given |= {"files": files} | inputs
    variables = {
        name: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value).group(1)
        for name, value in step["env"].items()
    }
    environment = {name: given[key] for name, key in variables.items()}
    assert "${{" not in step["run"], "inputs must reach the shell as variables only"
    return run(repository, step["run"], **environment)


def test_the_action_passes_a_good_repository(repository):
    done = act(repository, "experiments/**/*.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "::warning file=experiments/a b/first.spec.json,line=" in done.stdout


def test_the_action_fails_on_a_bad_record_and_annotates_it(repository):
    (repository / "run.json").write_bytes(BAD.read_bytes())
    done = act(repository, "run.json\nexperiments")
    assert done.returncode == 1
    assert re.search(
        r"^::error file=run\.json,line=\d+,col=\d+,title=RX", done.stdout, re.MULTILINE
    )


def test_the_action_fails_when_nothing_was_evaluated(repository):
    assert act(repository, "no/such/*.json").returncode == 3


def test_the_action_takes_a_format_and_evidence(repository):
    (repository / "kept").mkdir()
    done = act(repository, "experiments", format="sarif", evidence="kept")
    assert json.loads(done.stdout)["version"] == "2.1.0"


def test_inputs_of_the_action_cannot_run_commands(repository):
    act(repository, "experiments; touch owned $(touch owned) `touch owned`")
    assert not (repository / "owned").exists()


def test_the_action_installs_itself():
    assert '"$GITHUB_ACTION_PATH"' in action_step("Install")[1]["run"]


def hook(repository):
    """Run the hook as pre-commit does: its entry on the staged files that its pattern selects."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"]) == ("rx-validate", "python")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=repository, capture_output=True, text=True, check=True
    )
    chosen = [name for name in listed.stdout.splitlines() if re.search(hook["files"], name)]
    quoted = " ".join(f"'{name}'" for name in chosen)
    return chosen, run(repository, f"{hook['entry']} {quoted}")


def test_the_hook_judges_specs_and_records_only(repository):
    (repository / "package.json").write_text("{}")
    (repository / "rerun.json").write_text("{}")
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    chosen, done = hook(repository)
    assert chosen == ["experiments/a b/first.spec.json"]
    assert done.returncode == 0
    (repository / "run.json").write_bytes(BAD.read_bytes())
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    assert hook(repository)[1].returncode == 1
