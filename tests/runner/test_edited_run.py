"""A run directory that somebody edited: one line that says where, and nothing handed in."""

import json

import pytest

from rx_tools.errors import IntegrityError
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.run_dir import RunDir
from rx_tools.runner.whole.record import with_contents


@pytest.fixture
def run(tmp_path):
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "rows.jsonl").write_bytes(b'{"a": 1}\n')
    return RunDir(tmp_path)


def record():
    entry = {"name": "rows.jsonl", "kind": "metrics", "sha256": sha256_of(b'{"a": 1}\n')}
    return {"evidence": {"version": 1, "files": [entry]}}


def test_the_contents_are_those_that_were_published(run):
    assert with_contents(run, record())["evidence"]["files"][0]["content"] == '{"a": 1}\n'


@pytest.mark.parametrize("content", [b'{"a": 2}\n', b"\xff\xfe", b""])
def test_evidence_that_was_edited_is_not_handed_in(run, content):
    (run.evidence / "rows.jsonl").write_bytes(content)
    with pytest.raises(IntegrityError, match=r"rows\.jsonl: is not what the record lists"):
        with_contents(run, record())


@pytest.mark.parametrize("meta", [{}, {"run_id": 5}, {"run_id": ""}, []])
def test_a_run_without_a_name_is_told(run, meta):
    (run.path / "run.json").write_text(json.dumps(meta))
    with pytest.raises(IntegrityError, match="names no run_id"):
        _ = run.run_id


def test_numbered_files_come_in_the_order_of_their_numbers(run):
    for number in (10, 2, 9, 1, 11, 3):
        (run.path / f"clearance-{number}.json").touch()
    names = [path.name for path in run.clearance_paths()]
    assert names == [f"clearance-{number}.json" for number in (1, 2, 3, 9, 10, 11)]
