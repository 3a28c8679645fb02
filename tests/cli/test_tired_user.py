"""Slips of the hand: an empty variable, a folder that is not there, a service that nobody knows."""

from pathlib import Path

import pytest

from rx_tools.cli.app import build

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
