"""Faults that tools of this kind have had in public: the smallest input, and the right answer."""

import json
import socket
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from rx_tools.cli.app import build

FIXTURES = Path(__file__).parents[1] / "fixtures"
SPEC = FIXTURES / "exp_9574bbb76e.spec.json"


def validate(*files):
    words = ["validate", *map(str, files), "--format", "json"]
    with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit) as left:
        build(words)(words)
    document = json.loads(out.getvalue())
    found = [finding for file in document["files"] for finding in file["findings"]]
    return left.value.code, found


def spec_with(old, new):
    text = SPEC.read_text()
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


FAULTS = [
    pytest.param(spec_with('"margin": 0.02', '"margin": 0.05, "margin": 0.5'), "RX002", id="twice"),
    pytest.param(spec_with('"margin": 0.02', '"margin": NaN'), "RX003", id="nan"),
    pytest.param(spec_with('"margin": 0.02', '"margin": 1e400'), "RX003", id="1e400"),
    pytest.param(spec_with('"steps": 60', '"steps": ' + "[" * 20_000), "RX004", id="brackets"),
    pytest.param(spec_with('"seed": 0', '"seed": true'), "RX010", id="true-is-no-seed"),
    pytest.param(spec_with("0,\n      1,\n      2", "0, 0, 1"), "RX010", id="seeds-0-0-1"),
    pytest.param(spec_with('"alpha": 0.05', '"alpha": "0.05"'), "RX010", id="number-as-text"),
    pytest.param("﻿" + SPEC.read_text(), "RX001", id="bom"),
    pytest.param(SPEC.read_text() + "{}", "RX005", id="two-documents"),
    pytest.param("", "RX005", id="empty"),
]


@pytest.mark.parametrize(("text", "code"), FAULTS)
def test_refused(tmp_path, text, code):
    (tmp_path / "spec.json").write_text(text)
    exit_code, found = validate(tmp_path / "spec.json")
    assert exit_code == 1
    assert code in [finding["code"] for finding in found]
    assert all(finding["line"] >= 1 for finding in found)


def test_validating_never_touches_the_network(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    document = json.loads(SPEC.read_text())
    document["method"] = {"$ref": "http://169.254.169.254/x"}
    document["$schema"] = "http://169.254.169.254/schema.json"
    document["$ref"] = "http://169.254.169.254/x"
    (tmp_path / "spec.json").write_text(json.dumps(document))
    exit_code, found = validate(tmp_path / "spec.json")
    assert (exit_code, found[0]["json_path"]) == (1, "$.method")


NAMES = ("../../x", "/abs", "C:\\x", "~/x", "run-1\n", "", "a\x00b")


@pytest.mark.parametrize("name", NAMES)
def test_evidence_names_that_leave_the_folder(tmp_path, name):
    record = {
        "status": "running",
        "evidence": {"version": 1, "files": [{"name": name, "kind": "script", "content": "x"}]},
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    exit_code, found = validate(tmp_path / "record.json")
    assert exit_code == 1
    assert "$.evidence.files[0].name" in [finding["json_path"] for finding in found]


def pair(tmp_path, files):
    record = {"status": "running", "evidence": {"version": 1, "files": files}}
    (tmp_path / "record.json").write_text(json.dumps(record))
    exit_code, found = validate(SPEC, tmp_path / "record.json")
    assert exit_code == 1
    return [f for f in found if f["json_path"].startswith("$.evidence.files")]


def entry(name, **more):
    return {"name": name, "kind": "script", "content": "print()", **more}


def test_names_that_collide_or_are_not_nfc(tmp_path):
    assert pair(tmp_path, [entry("Preds.py"), entry("preds.py")])
    assert pair(tmp_path, [entry("cera\u0301mica.py")])


def test_a_digest_with_a_final_newline_or_foreign_digits(tmp_path):
    for digest in ("a" * 64 + "\n", "١" * 64):
        assert pair(tmp_path, [entry("a.py", sha256=digest)])


def test_a_key_inside_a_file_is_found_and_a_digest_is_not(tmp_path):
    key = "tml-" + "q7Rt2Yp9" * 4
    script = f'config = {{"api_key": "{key}"}}'
    leaks = [f for f in pair(tmp_path, [entry("a.py", content=script)]) if f["code"] == "RX386"]
    assert leaks and all(key not in json.dumps(leak) for leak in leaks)
    digests = pair(tmp_path, [entry("b.py", content="x = '" + "0f" * 32 + "'", sha256="a" * 64)])
    assert "RX386" not in [finding["code"] for finding in digests]


def test_twenty_bad_rows_are_twenty_findings(tmp_path):
    rows = [{"item_id": str(i), "arm": "baseline", "seed": True} for i in range(20)]
    record = {"status": "running", "decision": {"version": 1, "observations": rows}}
    (tmp_path / "record.json").write_text(json.dumps(record))
    _, found = validate(tmp_path / "record.json")
    seeds = [finding for finding in found if finding["json_path"].endswith(".seed")]
    assert len(seeds) == 20
