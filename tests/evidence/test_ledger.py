"""The ledger: what a writer leaves, what a crash leaves, what a second process may do."""

import hashlib
import json
import resource
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_tools.errors import DiskError, DocumentError, IntegrityError
from rx_tools.evidence.canonical import compact
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.ledger import Fault, Head, Ledger, read_ledger
from rx_tools.evidence.ledger_line import exact, quick

START = datetime(2026, 11, 29, 20, 10, tzinfo=UTC)


def ticking():
    moments = (START + timedelta(microseconds=n) for n in range(10**6))
    return lambda: next(moments)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def test_a_line_is_what_the_format_says(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {"ä": 1})
        ledger.append("plan_frozen", {}, {"plan.json": "ab" * 32})
    first, second, rest = path.read_bytes().split(b"\n")
    assert rest == b""
    assert first == (
        b'{"data":{"\\u00e4":1},"event":"run_created","files":{},"prev":"' + b"0" * 64 + b'",'
        b'"run":"run-1","seq":1,"time":"2026-11-29T20:10:00.000000Z"}'
    )
    assert json.loads(second)["prev"] == hashlib.sha256(first).hexdigest()
    assert json.loads(second)["files"] == {"plan.json": "ab" * 32}


def test_reopening_continues_the_chain(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
    with Ledger.open(path, ticking()) as ledger:
        ledger.append("run_interrupted", {})
        assert ledger.head == read_ledger(path).head
    reading = read_ledger(path)
    assert [line.event for line in reading.lines] == ["run_created", "run_interrupted"]
    assert not reading.findings


def test_a_second_ledger_in_the_same_place_is_refused(path):
    Ledger.create(path, "run-1").close()
    with pytest.raises(IntegrityError, match="already"):
        Ledger.create(path, "run-2")


def test_another_process_is_refused_while_one_holds_the_ledger(path):
    script = (
        "import sys; from pathlib import Path; from rx_tools.evidence.ledger import Ledger\n"
        "Ledger.open(Path(sys.argv[1]), run_id='run-1').append('run_interrupted', {})"
    )
    with Ledger.create(path, "run-1") as ledger:
        ledger.append("run_created", {})
        second = subprocess.run([sys.executable, "-c", script, path], capture_output=True)
        assert b"another process is writing this ledger" in second.stderr
        ledger.append("plan_frozen", {})
    assert subprocess.run([sys.executable, "-c", script, path]).returncode == 0
    assert len(read_ledger(path).lines) == 3


@pytest.mark.parametrize("tail", [b"{", b'{"seq":2', b"\0" * 4096, b"\xff\xfe", b" "])
def test_a_torn_tail_is_set_aside_and_the_ledger_goes_on(path, tail):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
    before = path.read_bytes()
    path.write_bytes(before + tail)
    assert [f.fault for f in read_ledger(path).findings] == [Fault.TORN]
    assert not read_ledger(path).damage
    with Ledger.open(path, ticking()) as ledger:
        assert ledger.torn == path.with_name("ledger.jsonl.torn-1")
        assert ledger.torn.read_bytes() == tail
        assert path.read_bytes() == before
        ledger.append("run_interrupted", {})
    assert not read_ledger(path).findings


def test_two_crashes_leave_two_torn_files(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
    for tail in (b"one", b"two"):
        path.write_bytes(path.read_bytes() + tail)
        Ledger.open(path).close()
    torn = sorted(path.parent.glob("*.torn-*"))
    assert [place.read_bytes() for place in torn] == [b"one", b"two"]


def test_a_crash_before_the_first_line_can_be_continued_by_who_knows_the_run(path):
    Ledger.create(path, "run-1").close()
    with pytest.raises(IntegrityError, match="holds no line"):
        Ledger.open(path)
    with Ledger.open(path, run_id="run-1") as ledger:
        assert ledger.append("run_created", {}).run == "run-1"


def test_a_damaged_ledger_is_not_continued(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {"arms": 6})
        ledger.append("plan_frozen", {})
    path.write_bytes(path.read_bytes().replace(b'"arms":6', b'"arms":5'))
    with pytest.raises(IntegrityError, match="line 2: chain broken"):
        Ledger.open(path)


def test_a_ledger_of_another_run_is_not_continued(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
    with pytest.raises(IntegrityError, match="belongs to run 'run-1', not 'run-2'"):
        Ledger.open(path, run_id="run-2")


def test_a_noted_head_shows_a_truncation_and_a_rewrite(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        for event in ("run_created", "plan_frozen", "arm_started"):
            ledger.append(event, {})
        head = ledger.head
    whole = path.read_bytes()
    assert not read_ledger(path, head=head).findings
    path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    assert [f.fault for f in read_ledger(path, head=head).findings] == [Fault.TRUNCATED]
    assert not read_ledger(path).findings
    path.write_bytes(whole)
    other = Head(3, sha256_of(b"other"))
    assert [f.fault for f in read_ledger(path, head=other).findings] == [Fault.REWRITTEN]


def test_a_clock_that_was_set_back_is_noted_and_the_order_of_times_holds(path):
    moments = iter([START, START - timedelta(seconds=90), START + timedelta(seconds=1)])
    with Ledger.create(path, "run-1", lambda: next(moments)) as ledger:
        for _ in range(3):
            ledger.append("run_created", {})
    first, second, third = read_ledger(path).lines
    assert (second.time, second.data) == (first.time, {"clock_behind_seconds": 90.0})
    assert third.data == {}
    assert not read_ledger(path).findings


def test_local_times_are_written_in_utc_and_times_without_zone_are_refused(path):
    zone = timezone(timedelta(hours=5))
    with Ledger.create(path, "run-1", lambda: datetime(2026, 1, 1, 3, tzinfo=zone)) as ledger:
        assert ledger.append("run_created", {}).time == "2025-12-31T22:00:00.000000Z"
        ledger.clock = lambda: datetime(2026, 1, 1)
        with pytest.raises(IntegrityError, match="time zone"):
            ledger.append("plan_frozen", {})


@pytest.mark.parametrize(
    "data", [{"x": float("nan")}, {"x": float("inf")}, {1: 2}, {"x": "\ud800"}, {"x": {2}}]
)
def test_what_json_cannot_say_is_refused_and_nothing_is_written(path, data):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
        before = path.read_bytes()
        with pytest.raises(DocumentError):
            ledger.append("plan_frozen", data)
        assert path.read_bytes() == before


def test_what_another_program_appends_stops_the_writer(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
        with path.open("ab") as file:
            file.write(b"x\n")
        with pytest.raises(IntegrityError, match="changed by somebody else"):
            ledger.append("plan_frozen", {})


def test_a_replaced_file_stops_the_writer(path, tmp_path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
        (tmp_path / "other").write_bytes(path.read_bytes())
        (tmp_path / "other").rename(path)
        with pytest.raises(IntegrityError, match="changed by somebody else"):
            ledger.append("plan_frozen", {})


def test_a_full_disk_leaves_the_ledger_as_it_was(path):
    with Ledger.create(path, "run-1", ticking()) as ledger:
        ledger.append("run_created", {})
        before = path.read_bytes()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, hard))
        try:
            with pytest.raises(DiskError, match="the ledger is as it was"):
                ledger.append("plan_frozen", {"text": "x" * 200})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes() == before
        ledger.append("plan_frozen", {})
    assert not read_ledger(path).findings


KILLED = """
import os, signal, sys
from pathlib import Path
from rx_tools.evidence import ledger as module
write = module.write_all
def half(descriptor, data):
    write(descriptor, data[: int(sys.argv[2])])
    os.kill(os.getpid(), signal.SIGKILL)
ledger = module.Ledger.open(Path(sys.argv[1]))
module.write_all = half
ledger.append("plan_frozen", {})
"""


@pytest.mark.parametrize("written", [0, 1, 100, 9999])
def test_a_kill_while_appending_loses_no_acknowledged_line(path, written):
    with Ledger.create(path, "run-1") as ledger:
        ledger.append("run_created", {})
    command = [sys.executable, "-c", KILLED, path, str(written)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    with Ledger.open(path) as ledger:
        ledger.append("run_interrupted", {})
    events = [line.event for line in read_ledger(path).lines]
    assert events[0] == "run_created"
    assert events[1:] in (["run_interrupted"], ["plan_frozen", "run_interrupted"])
    assert not read_ledger(path).findings


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(JSON, st.booleans(), st.booleans())
def test_the_fast_reader_accepts_nothing_that_the_exact_one_refuses(value, sort, escape):
    line = {
        "data": {"x": value},
        "event": "e",
        "files": {},
        "prev": "0" * 64,
        "run": "r",
        "seq": 1,
        "time": "t",
    }
    text = json.dumps(line, sort_keys=sort, separators=(",", ":"), ensure_ascii=escape)
    raw = text.encode("utf-8", "replace")
    members = quick(raw)
    if members is not None:
        assert compact(line) == raw
        assert exact(raw) == members
