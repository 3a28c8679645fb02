#!/usr/bin/env python3
"""Verify a bundle of `rx` with nothing but Python 3.11: the hash level and the ledger level.

    python verify.py BUNDLE [ROOT_DIGEST]

BUNDLE is a directory or a zip file. Exit 0: every file is what the manifest says, and the ledger
is one unbroken chain whose announcements hold. Exit 4: something is contradicted. Exit 3: there
is no bundle. What the documents say (gates, losses, decision) is for `rx verify`; see trust.md.
"""

import hashlib
import json
import re
import stat
import struct
import sys
import zipfile
from pathlib import Path
from unicodedata import category, normalize

MANIFEST, DESCRIPTION, RECORD = "manifest-sha256.txt", "bundle.json", "record.json"
REQUIRED = {"run.json", "spec.json", "plan.json", "ledger.jsonl", RECORD, DESCRIPTION}
DOCUMENT = r"(run|spec|plan|record|bundle|original\.spec|clearance-[1-9][0-9]{0,5})\.json"
DOCUMENT += r"|ledger\.jsonl|manifest-sha256\.txt"
UPDATE = r"record-[0-9]{4,6}\.json"
PATH = re.compile(rf"{DOCUMENT}|updates/{UPDATE}|evidence/(?!({DOCUMENT}|{UPDATE})\Z)[^/]+")
LETTERS = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"}
DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]", re.IGNORECASE)
LIMIT = 512 << 20


def require(condition, message):
    if not condition:
        raise ValueError(message)


def check_path(path):
    """One allow-list of paths; returns what a file system that ignores case makes of this one."""
    name = path.rpartition("/")[2]
    kinds = {category(letter) for letter in name if letter not in "._-+=@,"}
    fits = name and kinds <= LETTERS and len(name.encode()) <= 200
    fits = fits and name[0] not in ".-" and name[-1] != "." and name == normalize("NFC", name)
    folded = normalize("NFKC", normalize("NFKC", path).casefold())
    device = DEVICE.fullmatch(folded.rpartition("/")[2].split(".")[0])
    require(fits and not device, f"{path!a}: a name that is not allowed")
    require(PATH.fullmatch(path), f"{path!a}: belongs into no bundle")
    return folded


def read_folder(place):
    files, total = {}, 0
    for entry in place.rglob("*"):
        path, status = entry.relative_to(place).as_posix(), entry.lstat()
        if stat.S_ISDIR(status.st_mode) and path in ("evidence", "updates"):
            continue
        require(stat.S_ISREG(status.st_mode), f"{path!a}: no regular file")
        total += status.st_size
        require(total <= LIMIT and len(files) < 4096, "larger than any bundle")
        files[path] = entry.read_bytes()
    return files


def read_zip(place):
    """The members, after checking that every byte of the archive belongs to exactly one of them."""
    data, end = place.read_bytes(), 0
    with zipfile.ZipFile(place) as archive:
        members = sorted(archive.infolist(), key=lambda member: member.header_offset)
        require(len({m.filename for m in members}) == len(members), "a member twice")
        require(sum(m.file_size for m in members) <= LIMIT, "unpacks to too much")
        for member in members:
            kind = stat.S_IFMT(member.external_attr >> 16)
            plain = kind in (0, stat.S_IFREG) and member.orig_filename == member.filename
            require(plain and not member.is_dir(), "a link, a folder or a name that is not plain")
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


def check_ledger(files, digests):
    """The number of lines and the hash of the last one, after following the chain."""
    *lines, torn = files["ledger.jsonl"].split(b"\n")
    require(lines and not torn, "the ledger is empty or ends within a line")
    run, previous, latest = json.loads(files["run.json"])["run_id"], "0" * 64, ""
    known = {path.rpartition("/")[2]: digest for path, digest in digests.items()}
    for number, raw in enumerate(lines, 1):
        line, at = json.loads(raw.decode("ascii")), f"ledger line {number}"
        due = {**line, "run": run, "seq": number, "prev": previous}
        form = json.dumps(due, sort_keys=True, separators=(",", ":"), allow_nan=False)
        require(form.encode() == raw, f"{at}: another form or run, or the chain is broken")
        require([*line] == ["data", "event", "files", "prev", "run", "seq", "time"], at)
        require(line["time"] >= latest, f"{at}: the clock ran backwards")
        announced, data = dict(line["files"]), line["data"]
        if line["event"] == "clearance_issued" and "sha256" in data:
            announced[f"clearance-{data['clearance']}.json"] = data["sha256"]
        require(announced.items() <= known.items(), f"{at}: announced another file")
        previous, latest = hashlib.sha256(raw).hexdigest(), line["time"]
    return {"count": len(lines), "sha256": previous}


def check_description(files, digests, head):
    body = json.loads(files[DESCRIPTION])
    stated = [(entry["name"], entry["size"], entry["sha256"]) for entry in body["files"]]
    true = [(p, len(files[p]), digests[p]) for p in files if p not in (MANIFEST, DESCRIPTION)]
    require(sorted(stated) == sorted(true), f"{DESCRIPTION}: other files")
    require(body["ledger_head"] == head, f"{DESCRIPTION}: another ledger head")
    updates = [path for path in files if path.startswith("updates/")]
    due = [f"updates/record-{number:04d}.json" for number in range(1, len(updates) + 1)]
    require(set(updates) == set(due), "an update is missing")
    require(files[due[-1]] == files[RECORD], f"{RECORD} is not the newest update")
    sizes = [len(data) for path, data in files.items() if path.startswith("evidence/")]
    require(len(sizes) <= 64 and sum(sizes) <= 40 << 20, "more evidence than the caps allow")
    require(max(sizes, default=0) <= 10 << 20, "an evidence file above its cap")


def verify(place, root=""):
    """The root digest of a bundle, empty where there is none; raises where one is contradicted."""
    require(not place.is_symlink(), "a symbolic link")
    files = read_folder(place) if place.is_dir() else read_zip(place)
    if MANIFEST not in files:
        return ""
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    require(root in ("", digests[MANIFEST]), f"the root digest is {digests[MANIFEST]}")
    require(len(set(map(check_path, files))) == len(files), "names that only case distinguishes")
    lines = [f"{digests[p]}  {p}\n" for p in sorted(files, key=str.encode) if p != MANIFEST]
    require(files[MANIFEST] == "".join(lines).encode(), "not as listed, see `sha256sum -c`")
    require(files.keys() >= REQUIRED, "a document is missing")
    check_description(files, digests, check_ledger(files, digests))
    return digests[MANIFEST]


def main(place, root=""):
    try:
        found = verify(Path(place), root.lower())
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 74 if isinstance(error, OSError) else 4
    print(f"root digest {found}: files and ledger hold" if found else "there is no bundle")
    return 0 if found else 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
