"""Publishing: once, whole, under a name that means the same everywhere."""

import hashlib
import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from rx_tools.errors import DiskError, IntegrityError
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.names import check_name
from rx_tools.evidence.publish import TEMPORARY, publish


def test_bytes_files_and_streams_are_published_with_their_digest(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"content")
    folder = tmp_path / "evidence"
    folder.mkdir()
    contents = {"a.txt": b"content", "b.txt": source, "c.txt": iter([b"con", b"", b"tent"])}
    for name, content in contents.items():
        published = publish(folder, name, content)
        assert published.sha256 == hashlib.sha256(b"content").hexdigest()
        assert published.size == 7
        assert (folder / name).read_bytes() == b"content"
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_the_same_bytes_again_answer_as_the_first_time(tmp_path):
    first = publish(tmp_path, "a.txt", b"one")
    assert publish(tmp_path, "a.txt", b"one") == first


def test_other_bytes_under_a_published_name_are_refused_with_the_digest_that_is_there(tmp_path):
    first = publish(tmp_path, "a.txt", b"one")
    with pytest.raises(IntegrityError, match=first.sha256):
        publish(tmp_path, "a.txt", b"two")
    assert (tmp_path / "a.txt").read_bytes() == b"one"


@pytest.mark.parametrize(
    ("first", "second"),
    [("Preds.jsonl", "preds.jsonl"), ("straße", "STRASSE"), ("ﬁn.txt", "fin.txt")],
)
def test_names_that_collide_where_case_is_ignored_are_refused(tmp_path, first, second):
    publish(tmp_path, first, b"one")
    with pytest.raises(IntegrityError, match="collide"):
        publish(tmp_path, second, b"one")


BAD_NAMES = {
    "": "is empty",
    ".": "starts with a dot",
    "..": "starts with a dot",
    ".env": "starts with a dot",
    "-rf": "starts with a dot or a dash",
    "a.": "ends with a dot",
    "../../x": "contains '/'",
    "/abs": "contains '/'",
    "a/b": "contains '/'",
    "C:\\x": "contains ':'",
    "a\\b": r"contains '\\\\'",
    "~/x": "contains '~'",
    "run-1\n": r"contains '\\n'",
    "a\0b": r"contains '\\x00'",
    "a b": "contains ' '",
    "a*": r"contains '\*'",
    "cera\u0301mica": "normal form C",
    "\u202egpj.exe": r"contains '\\u202e'",
    "a\u200bb": r"contains '\\u200b'",
    "a\u3164": r"contains '\\u3164'",
    "\ud800": "not valid Unicode",
    "CON": "device name",
    "nul.txt": "device name",
    "com1.jsonl": "device name",
    "COM¹": "contains",
    "x" * 201: "more than 200 bytes",
    "ä" * 101: "more than 200 bytes",
}


@pytest.mark.parametrize(("name", "reason"), BAD_NAMES.items())
def test_names_off_the_allow_list_are_refused_with_the_reason(tmp_path, name, reason):
    with pytest.raises(IntegrityError, match=reason):
        publish(tmp_path, name, b"")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["a", "preds-seed0.v2.jsonl", "cerámica.json", "数据.jsonl", "x" * 200, "a@b=c,d+e_f"]
)
def test_names_on_the_allow_list_pass(name):
    assert check_name(name) == name


def test_a_symbolic_link_is_neither_followed_nor_replaced(tmp_path):
    folder = tmp_path / "evidence"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("private")
    link = tmp_path / "link"
    link.symlink_to(secret)
    with pytest.raises(IntegrityError, match="symbolic link"):
        publish(folder, "a.txt", link)
    (folder / "b.txt").symlink_to(secret)
    with pytest.raises(IntegrityError, match="symbolic link"):
        publish(folder, "b.txt", b"new")
    assert secret.read_text() == "private"
    assert [path.name for path in folder.iterdir()] == ["b.txt"]


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IntegrityError, match="not a regular file"):
        publish(tmp_path, "a.txt", tmp_path / "pipe")


def test_what_is_hashed_is_what_was_copied_even_if_the_source_grows(tmp_path):
    source = tmp_path / "source.log"
    source.write_bytes(b"x" * 3_000_000)

    def growing():
        with source.open("rb") as file:
            while chunk := file.read(1 << 20):
                yield chunk
                if source.stat().st_size < 3_500_000:
                    with source.open("ab") as more:
                        more.write(b"y" * 500_000)

    published = publish(tmp_path, "copy.log", growing())
    assert published.sha256 == sha256_file(tmp_path / "copy.log")
    assert published.size == (tmp_path / "copy.log").stat().st_size == 3_500_000


def test_of_eight_writers_with_different_bytes_exactly_one_wins(tmp_path):
    script = (
        "import sys; from pathlib import Path\n"
        "from rx_tools.evidence.publish import publish\n"
        "sys.stdin.read(1); print(publish(Path(sys.argv[1]), 'one.bin',"
        " sys.argv[2].encode() * 300000).sha256)"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, tmp_path, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda writer: writer.communicate("g"), writers))
    winners = [out.strip() for out, _ in answers if out]
    assert winners == [sha256_file(tmp_path / "one.bin")]
    losers = [err for out, err in answers if not out]
    assert all(winners[0] in err for err in losers)
    assert [path.name for path in tmp_path.iterdir()] == ["one.bin"]


def test_a_full_disk_leaves_the_folder_as_it_was(tmp_path):
    publish(tmp_path, "a.txt", b"one")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(DiskError, match="nothing was changed"):
            publish(tmp_path, "big.bin", b"x" * (2 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


KILLED = """
import os, signal, sys
from pathlib import Path
from rx_tools.evidence import publish as module
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
name = sys.argv[2]
if name == "after link":
    module.sync_folder = die
elif name == "before link":
    module.link = die
elif name == "in copy":
    module.copy = die
def content():
    yield b"half"
    if name == "in content":
        die()
    yield b"half"
module.publish(Path(sys.argv[1]), "a.txt", content())
"""


@pytest.mark.parametrize("point", ["in copy", "in content", "before link", "after link"])
def test_a_kill_at_any_point_leaves_all_or_nothing_and_the_next_one_cleans_up(tmp_path, point):
    publish(tmp_path, "old.txt", b"old")
    command = [sys.executable, "-c", KILLED, tmp_path, point]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    named = {path.name for path in tmp_path.iterdir() if not path.name.startswith(TEMPORARY)}
    assert named == ({"old.txt", "a.txt"} if point == "after link" else {"old.txt"})
    assert publish(tmp_path, "a.txt", b"halfhalf").size == 8
    assert {path.name for path in tmp_path.iterdir()} == {"old.txt", "a.txt"}
    assert (tmp_path / "old.txt").read_bytes() == b"old"


def test_many_writers_of_different_names_do_not_disturb_each_other(tmp_path):
    def write(writer):
        return [publish(tmp_path, f"{writer}-{n}.txt", b"x" * n).size for n in range(40)]

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(write, range(6))) == [list(range(40))] * 6
    assert len(list(tmp_path.iterdir())) == 240
