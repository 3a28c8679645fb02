"""`rx preflight`, `rx train --arm`, `rx decide`: step by step, and closed by any change."""

import json
import shutil

import pytest

from tests.endtoend.small import rx, write_small
from tests.endtoend.test_rehearsal import ARMS


@pytest.fixture(scope="module")
def preflighted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("preflighted")
    spec, run = write_small(folder), folder / "run"
    done = rx("preflight", spec, "--rehearse", "--run-dir", run, cwd=folder, check=0)
    assert "cleared" in done.stdout
    return run


@pytest.fixture
def run(preflighted, tmp_path):
    """A copy of the cleared run, to be spoiled."""
    return shutil.copytree(preflighted, tmp_path / "run")


def test_arm_by_arm_to_a_verified_bundle(run, rehearsed):
    for arm in ARMS:
        rx("train", "--arm", arm, cwd=run, check=0)
    decided = rx("decide", "--format", "json", cwd=run, check=0)
    answer = json.loads(decided.stdout)
    whole = rehearsed.record["metrics"]
    assert answer["criteria"][0]["mean"] == whole["D_mean"]
    rx("bundle", run, "-o", run.parent / "bundle", cwd=run, check=0)
    rx("verify", run.parent / "bundle", cwd=run.parent, check=0)
    again = rx("train", "--arm", ARMS[0], cwd=run, check=2)
    assert "is done" in again.stderr


def spoil_spec(run):
    path = run / "spec.json"
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"alpha": 0.05', '"alpha": 0.1'))


def spoil_plan(run):
    path = run / "plan.json"
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"checkpoint_every": 20', '"checkpoint_every": 21'))


def spoil_evidence(run):
    path = run / "evidence" / "preflight-activation.json"
    path.chmod(0o644)
    path.write_text(
        path.read_text().replace('"executed_batch_size": 8', '"executed_batch_size": 9')
    )


def lose_evidence(run):
    (run / "evidence" / "preflight-feasibility.json").unlink()


def spoil_clearance(run):
    path = run / "clearance-1.json"
    path.chmod(0o644)
    path.write_text(path.read_text().replace('"number": 1', '"number": 2'))


def lose_clearance(run):
    (run / "clearance-1.json").unlink()


def cut_ledger(run):
    path = run / "ledger.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))


def edit_ledger(run):
    path = run / "ledger.jsonl"
    path.write_text(path.read_text().replace('"status":"passed"', '"status":"failed"', 1))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_spec, "spec"),
        (spoil_plan, "plan"),
        (spoil_evidence, "preflight-activation.json"),
        (lose_evidence, "preflight-feasibility.json"),
        (spoil_clearance, "clearance"),
        (lose_clearance, "no clearance"),
        (cut_ledger, "clearance"),
        (edit_ledger, "ledger"),
    ],
)
def test_any_change_closes_the_gate(spoil, says, run):
    spoil(run)
    before = (run / "ledger.jsonl").read_text()
    done = rx("train", "--arm", ARMS[0], cwd=run, check=4)
    assert says in done.stderr
    assert "update_acknowledged" not in (run / "ledger.jsonl").read_text()
    assert (run / "ledger.jsonl").read_text().startswith(before)


def test_a_clearance_of_another_run_opens_nothing(run, rehearsed):
    (run / "clearance-1.json").unlink()
    shutil.copy(rehearsed.run / "clearance-1.json", run / "clearance-1.json")
    done = rx("train", "--arm", ARMS[0], cwd=run, check=4)
    assert "another run" in done.stderr


def test_like_stock_shows_what_stays_open_and_an_acceptance_caps_the_verdict(tmp_path):
    spec, run = write_small(tmp_path), tmp_path / "run"
    arguments = ("run", spec, "--rehearse", "--like", "stock", "--run-dir")
    closed = rx(*arguments, run, cwd=tmp_path, check=3)
    assert "not exposed by the server" in closed.stdout
    accepted = tmp_path / "accepted"
    done = rx(*arguments, accepted, "--accept-unverified", "restoration", cwd=tmp_path)
    record = json.loads(sorted((accepted / "updates").glob("*.json"))[-1].read_text())
    assert record["status"] == "succeeded", done.stderr
    assert record["verdict"] == "inconclusive"
    assert "restoration_preflight accepted unverified" in record["summary"]
    events = (accepted / "ledger.jsonl").read_text()
    assert '"event":"unverified_accepted"' in events


@pytest.mark.parametrize("spoil", [cut_ledger, edit_ledger])
def test_a_record_that_the_ledger_does_not_back_is_not_handed_in(spoil, rehearsed, tmp_path):
    run = shutil.copytree(rehearsed.run, tmp_path / "run")
    rx("record", run, cwd=tmp_path, check=0)
    spoil(run)
    spoil(run)
    assert "ledger" in rx("record", run, cwd=tmp_path, check=4).stderr
