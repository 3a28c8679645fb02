"""Slips of the hand: an empty variable, a folder that is not there, a service that nobody knows."""

import json
import shutil
from pathlib import Path

import pytest

from rx_tools.cli.app import build
from rx_tools.errors import ExitCode
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE

FIXTURES = Path(__file__).parents[1] / "fixtures"
SPEC = FIXTURES / "exp_9574bbb76e.spec.json"


@pytest.fixture
def rx(capsys):
    def run(*words):
        with pytest.raises(SystemExit) as left:
            build([words[0]])([*map(str, words)])
        lines = capsys.readouterr().err.splitlines()
        return left.value.code, [line for line in lines if line.startswith("rx: ")]

    return run


def test_an_empty_variable_is_no_folder(rx, tmp_path, monkeypatch):
    """`rx validate "$SPEC"` with an unset variable must not pass for what lies around."""
    (tmp_path / "spec.json").write_text(SPEC.read_text())
    monkeypatch.chdir(tmp_path)
    code, lines = rx("validate", "")
    assert code == 2 and lines == [
        "rx: an empty file name (`.` is the folder that you are in; was a variable empty?)"
    ]


@pytest.mark.parametrize("documents", [[SPEC], [SPEC, FIXTURES / "exp_9574bbb76e.run.json"]])
def test_evidence_that_is_not_there_is_told_even_if_nobody_would_look(rx, documents):
    code, lines = rx("validate", *documents, "--evidence", "nowhere")
    assert code == 2 and lines == ["rx: nowhere: no such directory (--evidence takes a folder)"]


@pytest.mark.parametrize("command", ["run", "preflight"])
def test_an_unknown_service_is_told_before_a_run_is_begun(rx, tmp_path, command):
    run = tmp_path / "run"
    code, lines = rx(command, SPEC, "--rehearse", "--like", "nothing", "--run-dir", run)
    assert code == 2 and lines == ["rx: --like nothing: unknown (known: stock)"]
    assert not run.exists()


def run_directory(folder):
    """The run of which the true bundle was made."""
    run = shutil.copytree(TRUE, folder / "run")
    (run / "manifest-sha256.txt").unlink()
    (run / "bundle.json").unlink()
    return run


NO_PLAN = '{"schema": "urn:rx:schema:plan:1", "arms": 5}'


@pytest.mark.parametrize(
    "words",
    [
        ("status", "{}"),
        ("decide", "--run-dir", "{}"),
        ("run", "--resume", "--run-dir", "{}"),
        ("train", "--arm", "baseline_lr1e-4_seed0", "--run-dir", "{}"),
        ("report", "{}", "-o", "{}.html"),
        ("diff", "{}", "{}"),
    ],
    ids=lambda words: words[0],
)
def test_a_plan_that_is_none_is_named(rx, tmp_path, words):
    run = run_directory(tmp_path)
    (run / "plan.json").write_text(NO_PLAN)
    code, lines = rx(*(word.format(run) for word in words))
    assert code == 4 and len(lines) == 1
    assert f'{run}/plan.json: is no plan: $: "rx_version" is missing (restore it' in lines[0]


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"run_id": 5}'])
def test_a_run_without_a_name_is_not_packed(rx, tmp_path, text):
    run = run_directory(tmp_path)
    (run / "run.json").write_text(text)
    code, lines = rx("bundle", run)
    assert code == 4 and lines[0].startswith(f"rx: {run}/run.json: names no run_id (restore it")


@pytest.mark.parametrize(
    "words",
    [
        ("bundle", "{}"),
        ("run", "--resume", "--run-dir", "{}"),
        ("train", "--arm", "baseline_lr1e-4_seed0", "--resume", "--run-dir", "{}"),
    ],
    ids=lambda words: words[0],
)
def test_nothing_is_written_into_a_bundle(rx, tmp_path, words):
    bundle = shutil.copytree(TRUE, tmp_path / "bundle")
    code, lines = rx(*(word.format(bundle) for word in words))
    assert code == 2
    assert lines == [
        f"rx: {bundle}: is a bundle, which never changes (name the run directory that it was made "
        "from)"
    ]
    assert verify(bundle).exit_code is ExitCode.OK
    assert sorted(tmp_path.iterdir()) == [bundle]


@pytest.mark.parametrize(
    ("member", "value", "place"),
    [
        ("arms", {}, "$.arms"),
        ("batch_size", -1, "$.data.n_train"),
    ],
)
def test_a_spec_that_leads_to_no_plan_begins_no_run(rx, tmp_path, member, value, place):
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(json.loads(SPEC.read_text()) | {member: value}))
    code, lines = rx("run", spec, "--rehearse", "--run-dir", tmp_path / "run")
    assert code == 1 and len(lines) == 1
    assert f"rx: {spec}: leads to no plan: {place}: " in lines[0]
    assert f"(rx validate {spec} says what is wrong with it)" in lines[0]
    assert not (tmp_path / "run").exists()
    (tmp_path / "answers.json").write_text('{"evaluation.renderer": "qwen3_5"}')
    asked = ("plan", spec, "--answers", tmp_path / "answers.json", "-o", tmp_path / "plan.json")
    assert rx(*asked) == (1, lines)
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize("command", ["status", "report", "record"])
def test_two_run_directories_are_one_too_many(rx, command):
    code, lines = rx(command, TRUE, "--run-dir", "elsewhere")
    assert code == 2 and lines == [
        "rx: --run-dir: the run directory is given twice (leave one out)"
    ]


@pytest.mark.parametrize("words", [("verify", "{}"), ("sign", "{}", "--key", "key.pem")])
def test_a_run_directory_is_no_bundle_and_no_forgery(rx, tmp_path, words):
    run = run_directory(tmp_path)
    (run / "work").mkdir()
    code, lines = rx(*(word.format(run) for word in words))
    missing = "is no bundle: there is no manifest-sha256.txt"
    assert code == 3 and lines == [
        f"rx: {run}: {missing} (`rx bundle {run}` packs a run directory)"
    ]
