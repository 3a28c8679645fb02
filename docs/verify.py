#!/usr/bin/env python3
"""Verify a bundle of `rx` with nothing but Python 3.11: the hash level and the ledger level.

    python verify.py BUNDLE [ROOT_DIGEST]

BUNDLE is a directory or a zip file. Exit 0: every file is what the manifest says, and the ledger
is one unbroken chain whose announcements hold. Exit 4: something is contradicted. Exit 3: there
is no bundle. What the documents say (gates, losses, decision) is for `rx verify`; see trust.md.
"""
# One short file that people read from top to bottom:
# ruff: noqa: ANN001, ANN201, D103, N818

import hashlib
import json
import os
import re
import stat
import struct
import sys
import unicodedata
import zipfile
from pathlib import Path

MANIFEST = "manifest-sha256.txt"
REQUIRED = {"run.json", "spec.json", "plan.json", "ledger.jsonl", "record.json", "bundle.json"}
DOCUMENT = re.compile(
    r"(run|spec|plan|record|bundle|original\.spec)\.json|ledger\.jsonl|manifest-sha256\.txt"
    r"|clearance-[1-9][0-9]{0,5}\.json"
)
UPDATE = re.compile(r"record-[0-9]{4,6}\.json")
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\Z", re.IGNORECASE)
LIMIT = 512 << 20
MIB = 1 << 20


class Refused(Exception):
    """The bundle is contradicted."""


def require(condition, message):
    if not condition:
        raise Refused(message)


def folded(text):
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def check_path(path):
    """One allow-list of paths, so that a name means the same file on every system."""
    folder, slash, name = path.rpartition("/")
    require(len(name.encode("utf-8", "surrogatepass")) <= 200, f"{path!a}: name too long")
    for letter in name:
        kind = unicodedata.category(letter)
        fits = letter in "._-+=@," or kind in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd")
        require(fits, f"{path!a}: a letter that is not allowed")
    require(name == unicodedata.normalize("NFC", name), f"{path!a}: not in normal form C")
    require(name[:1] not in ("", ".", "-") and name[-1:] != ".", f"{path!a}: odd ends")
    require(not DEVICE.match(folded(name).split(".")[0]), f"{path!a}: a device name")
    document, update = bool(DOCUMENT.fullmatch(name)), bool(UPDATE.fullmatch(name))
    fits = (folder == "" and not slash and document) or (folder == "updates" and update)
    fits = fits or (folder == "evidence" and not document and not update)
    require(fits, f"{path!a}: belongs into no bundle")


def read_folder(place):
    files, total = {}, 0
    for folder in (place, place / "evidence", place / "updates"):
        if not folder.exists():
            continue
        for entry in list(os.scandir(folder)):
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) and folder == place and entry.name in ("evidence", "updates"):
                continue
            require(stat.S_ISREG(mode), f"{entry.path!a}: no regular file")
            total += entry.stat(follow_symlinks=False).st_size
            require(total <= LIMIT and len(files) < 4096, "larger than any bundle")
            path = Path(entry.path)
            files[path.relative_to(place).as_posix()] = path.read_bytes()
    return files


def read_zip(place):
    """The members, after checking that every byte of the archive belongs to exactly one of them."""
    data = place.read_bytes()
    with zipfile.ZipFile(place) as archive:
        members, end = archive.infolist(), 0
        require(len({m.filename for m in members}) == len(members), "a member twice")
        require(sum(m.file_size for m in members) <= LIMIT, "unpacks to too much")
        for member in sorted(members, key=lambda m: m.header_offset):
            kind = stat.S_IFMT(member.external_attr >> 16)
            require(kind in (0, stat.S_IFREG) and not member.is_dir(), "a link or a folder")
            require(member.orig_filename == member.filename, "a name that is not plain")
            require(not member.flag_bits & 1 and member.compress_type in (0, 8), "odd packing")
            require(member.file_size <= 1000 * max(member.compress_size, 1), "a zip bomb")
            require(member.header_offset == end, "members overlap or leave a gap")
            header = struct.unpack_from("<4s5H3I2H", data, end)
            end += 30 + header[9] + header[10] + member.compress_size
            if header[2] & 8:
                end += 16 if data[end : end + 4] == b"PK\x07\x08" else 12
        require(archive.start_dir == end and not archive.comment, "bytes that nobody owns")
        files = {member.filename: archive.read(member) for member in members}
    require(all(len(files[m.filename]) == m.file_size for m in members), "a lying size")
    return files


def check_manifest(files):
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    paths = sorted(set(files) - {MANIFEST}, key=str.encode)
    expected = "".join(f"{digests[path]}  {path}\n" for path in paths).encode()
    if files[MANIFEST] == expected:
        return digests
    listed = set(files[MANIFEST].split(b"\n"))
    wrong = [path for path in paths if f"{digests[path]}  {path}".encode() not in listed]
    raise Refused(f"the manifest does not fit, for instance: {wrong[:3] or 'its form'}")


def only(pairs):
    require(len(dict(pairs)) == len(pairs), "a JSON key twice")
    return dict(pairs)


def constant(name):
    raise Refused(f"{name} in JSON")


def document(files, path):
    value = json.loads(files[path], object_pairs_hook=only, parse_constant=constant)
    require(isinstance(value, dict), f"{path} is no object")
    return value


def check_ledger(files, digests):
    *lines, torn = files["ledger.jsonl"].split(b"\n")
    require(lines and not torn, "the ledger is empty or ends within a line")
    run, previous, latest = document(files, "run.json").get("run_id"), "0" * 64, ""
    for number, raw in enumerate(lines, 1):
        line = json.loads(raw.decode("ascii"))
        form = json.dumps(line, sort_keys=True, separators=(",", ":"), allow_nan=False)
        require(form.encode() == raw, f"ledger line {number} is not canonical")
        members = ["data", "event", "files", "prev", "run", "seq", "time"]
        require(sorted(line) == members, f"ledger line {number}: other members")
        require(type(line["seq"]) is int and line["seq"] == number, f"line {number}: seq")
        require(line["prev"] == previous, f"ledger line {number}: the chain is broken")
        require(line["run"] == run, f"ledger line {number}: of another run")
        require(line["time"] >= latest, f"ledger line {number}: the clock ran backwards")
        announced, data = dict(line["files"]), line["data"]
        if line["event"] == "clearance_issued" and "sha256" in data:
            announced[f"clearance-{data['clearance']}.json"] = data["sha256"]
        for name, digest in announced.items():
            places = [p for p in (name, f"evidence/{name}", f"updates/{name}") if p in digests]
            require(places and digests[places[0]] == digest, f"ledger line {number}: {name!a}")
        previous, latest = hashlib.sha256(raw).hexdigest(), line["time"]
    return {"count": len(lines), "sha256": previous}


def check_description(files, digests, head):
    body = document(files, "bundle.json")
    require(body.get("ledger_head") == head, "bundle.json: another ledger head")
    found = {e["name"]: (e["size"], e["sha256"]) for e in body["files"]}
    skip = {MANIFEST, "bundle.json"}
    true = {p: (len(data), digests[p]) for p, data in files.items() if p not in skip}
    require(found == true and len(body["files"]) == len(true), "bundle.json: other files")
    updates = sorted((p for p in files if p.startswith("updates/")), key=lambda p: (len(p), p))
    require(files[updates[-1]] == files["record.json"], "record.json is not the newest update")
    for number, path in enumerate(updates, 1):
        require(path == f"updates/record-{number:04d}.json", f"{path}: an update is missing")
    sizes = [len(data) for path, data in files.items() if path.startswith("evidence/")]
    fits = len(sizes) <= 64 and sum(sizes) <= 40 * MIB and max(sizes, default=0) <= 10 * MIB
    require(fits, "the evidence is above the caps")


def verify(place, root=""):
    """The root digest of a bundle; raises `Refused` where anything is contradicted."""
    require(not place.is_symlink(), "a symbolic link")
    files = read_folder(place) if place.is_dir() else read_zip(place)
    for path in files:
        check_path(path)
    require(len(set(map(folded, files))) == len(files), "names that only case distinguishes")
    require(place.is_file() or MANIFEST in files, "no manifest")
    found = hashlib.sha256(files[MANIFEST]).hexdigest()
    require(not root or root == found, f"the root digest is {found}")
    digests = check_manifest(files)
    require(set(files) >= REQUIRED, "a document is missing")
    check_description(files, digests, check_ledger(files, digests))
    return found


def main(place, root=""):
    if Path(place).is_dir() and not (Path(place) / MANIFEST).exists():
        print("no bundle", file=sys.stderr)
        return 3
    try:
        print(f"root digest {verify(Path(place), root)}: files and ledger hold")
    except OSError as error:
        print(f"unreadable: {error}", file=sys.stderr)
        return 74
    except Exception as error:
        print(f"contradicted: {error!r}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
