"""Bundles that must be refused, each for its own reason (and the true ones, which must not).

`corpus/` holds bundles of this release: every later release must still verify them.
"""

import os
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

from rx_tools.errors import ExitCode
from rx_tools.evidence.archive import zip_bytes
from rx_tools.evidence.budget import MIB
from rx_tools.evidence.claim import State
from rx_tools.evidence.tree import open_tree
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE

CORPUS = Path(__file__).parent / "corpus"
ROOTS = {
    line.split()[1]: line.split()[0]
    for line in (CORPUS / "root-digests.txt").read_text().splitlines()
}


@pytest.mark.parametrize("name", ROOTS)
def test_bundles_of_this_release_stay_verified(name):
    found = verify(CORPUS / name, root=ROOTS[name])
    assert not found.of(State.CONTRADICTED)
    assert found.exit_code is ExitCode.OK


def test_every_bundle_of_the_corpus_is_in_the_list():
    assert sorted(ROOTS) == sorted(p.name for p in CORPUS.iterdir() if p.suffix != ".txt")


def refused(place, reason, root=""):
    """The claims that contradict, one of which must state the reason."""
    found = verify(place, root=root)
    assert found.exit_code is ExitCode.INTEGRITY
    stated = [f"{claim.subject}: {claim.message}" for claim in found.of(State.CONTRADICTED)]
    assert any(reason in line for line in stated), stated


SCRIPT = "evidence/executed-command.sh"
ROWS = "evidence/scored-observations.jsonl"
MANIFEST = "manifest-sha256.txt"


def edit(path, change):
    def vector(bundle):
        (bundle / path).write_bytes(change((bundle / path).read_bytes()))

    return vector


def swap(bundle):
    first, second = (bundle / "evidence" / f"metrics-{n}_seed0.jsonl" for n in ARMS)
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)


ARMS = ("baseline_lr1e-4", "treatment_lr3e-4")


def link_file(bundle):
    (bundle / SCRIPT).unlink()
    (bundle / SCRIPT).symlink_to("/etc/hostname")


def link_folder(bundle):
    shutil.move(bundle / "updates", bundle.parent / "elsewhere")
    (bundle / "updates").symlink_to(bundle.parent / "elsewhere")


def put(path, data=b"x"):
    def vector(bundle):
        (bundle / path).parent.mkdir(exist_ok=True, parents=True)
        (bundle / path).write_bytes(data)

    return vector


def manifest_lines(change):
    def rewrite(data):
        return b"".join(change(data.splitlines(keepends=True)))

    return edit(MANIFEST, rewrite)


ON_DISK = {
    "a flipped bit": (edit(ROWS, lambda d: bytes([d[0] ^ 1]) + d[1:]), f"{ROWS}: has SHA-256"),
    "a lost byte": (edit(ROWS, lambda d: d[:-1]), f"{ROWS}: has SHA-256"),
    "a byte more": (edit(ROWS, lambda d: d + b"\n"), f"{ROWS}: has SHA-256"),
    "an emptied file": (edit(ROWS, lambda d: b""), f"{ROWS}: has SHA-256"),
    "other line ends": (
        edit("ledger.jsonl", lambda d: d.replace(b"\n", b"\r\n")),
        "ledger.jsonl: has SHA-256",
    ),
    "a missing file": (lambda b: (b / SCRIPT).unlink(), f"{SCRIPT}: is listed in the manifest"),
    "a missing ledger": (
        lambda b: (b / "ledger.jsonl").unlink(),
        "ledger.jsonl: is listed in the manifest, but missing",
    ),
    "a file more": (put("evidence/more.txt"), "evidence/more.txt: is not listed"),
    "a renamed file": (
        lambda b: (b / SCRIPT).rename(b / "evidence" / "other.sh"),
        "evidence/other.sh: is not listed",
    ),
    "two exchanged files": (swap, "metrics-baseline_lr1e-4_seed0.jsonl: has SHA-256"),
    "an unlisted file": (
        manifest_lines(lambda lines: [li for li in lines if SCRIPT.encode() not in li]),
        f"{SCRIPT}: is not listed",
    ),
    "an edited digest": (
        edit(MANIFEST, lambda d: (b"2" if d[:1] == b"1" else b"1") + d[1:]),
        "has SHA-256",
    ),
    "an unsorted manifest": (manifest_lines(lambda lines: lines[::-1]), "is not sorted"),
    "a manifest with CRLF": (
        edit(MANIFEST, lambda d: d.replace(b"\n", b"\r\n")),
        "is not `<sha256>",
    ),
    "a manifest without its newline": (edit(MANIFEST, lambda d: d[:-1]), "one newline"),
    "a manifest with a blank line": (edit(MANIFEST, lambda d: d + b"\n"), "is not `<sha256>"),
    "a line twice": (manifest_lines(lambda lines: [lines[0], *lines]), "twice"),
    "upper-case digests": (
        edit(MANIFEST, lambda d: d.upper()),
        "is not `<sha256>",
    ),
    "binary marks": (edit(MANIFEST, lambda d: d.replace(b"  ", b" *")), "is not `<sha256>"),
    "a byte-order mark": (edit(MANIFEST, lambda d: b"\xef\xbb\xbf" + d), "is not `<sha256>"),
    "a manifest in another coding": (
        edit(MANIFEST, lambda d: d.decode().encode("utf-16")),
        "is not UTF-8",
    ),
    "a path outside": (
        manifest_lines(lambda lines: [b"0" * 64 + b"  ../../etc/passwd\n", *lines]),
        "../../etc/passwd: is listed in the manifest, but missing",
    ),
    "a symbolic link": (link_file, "is a symbolic link"),
    "a linked folder": (link_folder, "is a symbolic link"),
    "a dangling link": (
        lambda b: (b / "evidence" / "link").symlink_to("nowhere"),
        "is a symbolic link",
    ),
    "a pipe": (lambda b: os.mkfifo(b / "evidence" / "pipe"), "unexpected folder or device"),
    "a folder more": (put("work/adapter.bin"), "unexpected folder"),
    "a folder in the evidence": (put("evidence/inner/x.txt"), "unexpected folder"),
    "a bundle in the bundle": (
        put("evidence/manifest-sha256.txt"),
        "belongs to a bundle inside the bundle",
    ),
    "a hidden file": (put("evidence/.env"), "starts with a dot"),
    "a name that only case distinguishes": (
        put("evidence/EXECUTED-command.sh"),
        "collide where case is ignored",
    ),
    "a decomposed name": (put("evidence/cera\u0301mica.txt"), "normal form C"),
    "a device name": (put("evidence/aux.txt"), "device name"),
    "a name with a space": (put("evidence/a b.txt"), "contains ' '"),
    "a name that is not UTF-8": (put(os.fsdecode(b"evidence/\xff.txt")), "not valid Unicode"),
    "a document's name in the evidence": (put("evidence/spec.json"), "belongs into no bundle"),
    "an unknown document": (put("notes.md"), "belongs into no bundle"),
    "an unknown update": (put("updates/record-final.json"), "belongs into no bundle"),
}


@pytest.mark.parametrize("vector", ON_DISK)
def test_a_directory_that_was_touched_is_refused(tmp_path, vector):
    change, reason = ON_DISK[vector]
    bundle = shutil.copytree(TRUE, tmp_path / "bundle")
    change(bundle)
    refused(bundle, reason)


def test_a_link_to_a_bundle_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(TRUE)
    refused(tmp_path / "link", "is a symbolic link")


GOOD = zip_bytes(open_tree(TRUE).files)


def with_member(name, data=b"x", **attributes):
    """A zip of the true files and one member more."""

    def vector(place):
        place.write_bytes(GOOD)
        with zipfile.ZipFile(place, "a") as archive:
            member = zipfile.ZipInfo(name)
            member.external_attr = 0o100644 << 16
            for key, value in attributes.items():
                setattr(member, key, value)
            archive.writestr(member, data)

    return vector


def patched(old, new, count=-1):
    """The bytes of the archive with a replacement of equal length."""
    assert len(old) == len(new)
    return lambda place: place.write_bytes(GOOD.replace(old, new, count))


def overlap(place):
    """The second member's directory entry points at the first member."""
    place.write_bytes(GOOD)
    with zipfile.ZipFile(place) as archive:
        second = archive.infolist()[1].header_offset
    entry = GOOD.index(b"PK\x01\x02", GOOD.index(b"PK\x01\x02") + 4)
    assert struct.unpack_from("<I", GOOD, entry + 42)[0] == second
    place.write_bytes(GOOD[: entry + 42] + struct.pack("<I", 0) + GOOD[entry + 46 :])


def flagged(place):
    """The first member claims to be encrypted."""
    entry = GOOD.index(b"PK\x01\x02")
    place.write_bytes(GOOD[: entry + 8] + b"\x01\x00" + GOOD[entry + 10 :])


def longer_than_it_is(place):
    """The directory says that the first member unpacks to more than it holds."""
    entry = GOOD.index(b"PK\x01\x02")
    (size,) = struct.unpack_from("<I", GOOD, entry + 24)
    place.write_bytes(GOOD[: entry + 24] + struct.pack("<I", size + 1) + GOOD[entry + 28 :])


def nul(place):
    """A name that some readers end at the NUL."""
    with_member("evidence/a.txt#.sh")(place)
    place.write_bytes(place.read_bytes().replace(b"a.txt#", b"a.txt\0"))


def doubled(place):
    with_member("bundle.json")(place)


IN_ZIP = {
    "an absolute name": (with_member("/etc/passwd"), "lies in a strange folder"),
    "a name that climbs": (with_member("../../x.txt"), "lies in a strange folder"),
    "a backslash": (with_member("evidence\\x.txt"), r"contains '\\'"),
    "a drive": (with_member("C:x.txt"), "contains ':'"),
    "a home": (with_member("~/x.txt"), "lies in a strange folder"),
    "a NUL": (nul, "is not plain"),
    "a control character": (with_member("evidence/a\n.txt"), "contains"),
    "a link": (
        with_member("evidence/link", b"/etc/passwd", external_attr=0o120777 << 16),
        "is a link or a device",
    ),
    "a device": (
        with_member("evidence/null", external_attr=0o020666 << 16),
        "is a link or a device",
    ),
    "a directory entry": (with_member("evidence/", b""), "is a directory entry"),
    "a bomb": (
        with_member("evidence/zeros.bin", b"\0" * (64 * MIB), compress_type=8),
        "times its packed size",
    ),
    "an unusual packing": (
        with_member("evidence/x.bin", b"x" * 999, compress_type=12),
        "packed in an unusual way",
    ),
    "a member twice": (doubled, "holds 'bundle.json' twice"),
    "a bundle in the bundle": (
        with_member("evidence/bundle.json"),
        "belongs to a bundle inside the bundle",
    ),
    "overlapping members": (overlap, "overlaps another member or follows a gap"),
    "an encrypted member": (flagged, "is encrypted"),
    "a lying size": (longer_than_it_is, "is not as long as it says"),
    "a name that differs inside": (
        patched(b"bundle.json", b"bundle.jsom", 1),
        "is no sound zip archive",
    ),
    "a damaged member": (patched(b'"run_id"', b'"run-id"', 1), "is no sound zip archive"),
    "bytes before it": (
        lambda place: place.write_bytes(b"#!/bin/sh\n" + GOOD),
        "overlaps another member or follows a gap",
    ),
    "a comment": (
        lambda place: place.write_bytes(GOOD[:-2] + b"\x05\x00hello"),
        "carries a comment",
    ),
    "half of it": (
        lambda place: place.write_bytes(GOOD[: len(GOOD) // 2]),
        "is no sound zip archive",
    ),
    "no zip at all": (lambda place: place.write_bytes(b"hello"), "is no sound zip archive"),
    "nothing": (lambda place: place.write_bytes(b""), "is no sound zip archive"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("vector", IN_ZIP)
def test_an_odd_archive_is_refused_before_it_is_unpacked(tmp_path, vector):
    change, reason = IN_ZIP[vector]
    change(tmp_path / "bundle.zip")
    refused(tmp_path / "bundle.zip", reason)


def test_a_repacked_archive_is_the_same_bundle(tmp_path):
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in reversed(open_tree(TRUE).files.items()):
            archive.writestr(path, data)
    found = verify(tmp_path / "bundle.zip", root=ROOTS["rehearsal-0.1"])
    assert found.exit_code is ExitCode.OK
