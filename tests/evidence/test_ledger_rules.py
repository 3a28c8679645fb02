"""What `rx validate` says of a ledger that was touched."""

import json
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest

from rx_tools.cli.app import build
from rx_tools.evidence.ledger import Ledger

START = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path):
    moments = iter(START + timedelta(seconds=number) for number in range(100))
    path = tmp_path / "ledger.jsonl"
    writer = Ledger.create(path, "tiny-1", lambda: next(moments))
    for event in ("run_created", "plan_frozen", "arm_started", "arm_finished"):
        writer.append(event, {"arm": "a"})
    writer.close()
    return path


def validate(path):
    words = ["validate", str(path), "--format", "json"]
    with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit) as left:
        build(words)(words)
    (file,) = json.loads(out.getvalue())["files"]
    return left.value.code, [(finding["code"], finding["line"]) for finding in file["findings"]]


def test_a_whole_ledger_passes_alone_and_in_its_folder(ledger):
    assert validate(ledger) == (0, [])
    assert validate(ledger.parent) == (0, [])


def edited(ledger, change):
    lines = ledger.read_bytes().split(b"\n")
    ledger.write_bytes(b"\n".join(change(lines)))
    return validate(ledger)


def test_an_edited_line_breaks_the_chain_after_it(ledger):
    code, found = edited(
        ledger, lambda lines: [lines[0], lines[1].replace(b'"a"', b'"b"'), *lines[2:]]
    )
    assert (code, found) == (4, [("RX502", 3)])


def test_a_removed_line(ledger):
    code, found = edited(ledger, lambda lines: [lines[0], *lines[2:]])
    assert code == 4 and ("RX502", 2) in found


def test_a_torn_tail_is_a_warning(ledger):
    assert edited(ledger, lambda lines: [*lines[:-1], b'{"data":{']) == (0, [("RX504", 0)])


def test_a_line_that_is_not_canonical(ledger):
    code, found = edited(ledger, lambda lines: [lines[0].replace(b":", b": ", 1), *lines[1:]])
    assert code in (1, 4) and ("RX501", 1) in found


def test_an_event_that_nobody_knows(ledger):
    code, found = edited(
        ledger, lambda lines: [*lines[:3], lines[3].replace(b"arm_finished", b"arm_perfect"), b""]
    )
    assert code == 1 and ("RX506", 4) in found
