"""A run directory that somebody edited: one line that says where, and nothing handed in."""

import json

import pytest

from rx_tools.cli.record import attachments
from rx_tools.errors import IntegrityError, UsageError
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


def test_an_attached_file_goes_by_its_url_and_its_hash(run):
    url = "https://files.example/attachments/rows.jsonl"
    (entry,) = with_contents(run, record(), {"rows.jsonl": url})["evidence"]["files"]
    assert entry == record()["evidence"]["files"][0] | {"source_url": url}


def test_an_attachment_that_the_record_does_not_list_is_refused(run):
    with pytest.raises(UsageError, match=r"no evidence file other\.jsonl"):
        with_contents(run, record(), {"other.jsonl": "https://files.example/attachments/a"})


@pytest.mark.parametrize(
    "text",
    [
        "rows.jsonl",
        "rows.jsonl=",
        "rows.jsonl=http://files.example/attachments/rows.jsonl",
        "rows.jsonl=https://files.example/rows.jsonl",
        "rows.jsonl=https://user:key@files.example/attachments/rows.jsonl",
        "rows.jsonl=https://files.example/attachments/rows.jsonl?signature=abc",
    ],
)
def test_an_attachment_is_an_https_url_without_secrets(text):
    with pytest.raises(UsageError, match="--attach"):
        attachments([text])


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
