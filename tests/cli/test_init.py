"""`rx init` writes a spec that is valid without a word."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from rx_tools.cli.app import build


def rx(*words):
    with (
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
        pytest.raises(SystemExit) as left,
    ):
        build(words)(list(words))
    return left.value.code, out.getvalue(), err.getvalue()


def test_the_new_spec_is_valid(tmp_path):
    path = tmp_path / "spec.json"
    assert rx("init", str(path))[0] == 0
    code, out, _ = rx("validate", str(path), "--format", "json")
    assert (code, json.loads(out)["summary"]["findings"]) == (0, 0)


def test_the_new_spec_needs_every_gate_but_the_audit_and_correctness(tmp_path):
    path = tmp_path / "spec.json"
    rx("init", str(path))
    _, out, _ = rx("applicability", str(path))
    assert out.count("required") >= 5


def test_nothing_is_overwritten(tmp_path):
    path = tmp_path / "spec.json"
    path.write_text("mine")
    code, _, err = rx("init", str(path))
    assert (code, path.read_text()) == (2, "mine")
    assert len(err.strip().splitlines()) == 1
    assert rx("init", str(tmp_path / "no/such/spec.json"))[0] == 2
