import hashlib
import math
import os
import threading

import pytest

from rx_tools.checks.deciding.observation_rows import MAX_BYTES
from rx_tools.errors import DocumentError, IntegrityError
from rx_tools.evidence.observations import (
    cross_check,
    read_observation_file,
    within_limits,
)


def test_a_mean_off_by_more_than_1e_12_is_caught():
    values = [6.0 * 4 / 25, 1.0 * 4 / 25, 30.0 * 4 / 25, 0.0]
    cross_check("a", values, 37 / 25)
    with pytest.raises(IntegrityError, match="loss record says"):
        cross_check("a", values, 37 / 25 * (1 + 3e-12))
    with pytest.raises(IntegrityError):
        cross_check("a", [], math.nan)


def test_too_many_rows_are_refused_with_what_would_fit():
    with pytest.raises(DocumentError, match="20000 items x 6 cells") as refused:
        within_limits(b"x" * 120_000, items=20000, cells=6)
    assert "at most 16666 items" in refused.value.hint


def test_too_many_bytes_are_refused_with_what_would_fit():
    data = (b"x" * 210 + b"\n") * 60000
    with pytest.raises(DocumentError, match=f"{211 * 60000} bytes") as refused:
        within_limits(data, items=10000, cells=6)
    fitting = int(refused.value.hint.split("at most ")[1].split(" ")[0])
    assert fitting * 6 * 211 <= MAX_BYTES < (fitting + 1) * 6 * 211
    assert within_limits(data[: fitting * 6 * 211], items=fitting, cells=6)


def test_a_file_is_hashed_as_it_was_read(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"[]")
    read = read_observation_file(path)
    assert (read.size, read.issues) == (2, ())
    assert read.sha256 == hashlib.sha256(b"[]").hexdigest()


def test_a_pipe_can_be_read_as_well(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"[]",))
    writer.start()
    read = read_observation_file(pipe)
    writer.join()
    assert (read.size, read.issues) == (2, ())
