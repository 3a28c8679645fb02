"""Forged bundles: a true one, changed, and made consistent again as far as the forger can."""

import copy
import hashlib
import json
from pathlib import Path

from rx_tools.evidence.bundle import packed
from rx_tools.evidence.canonical import compact, document
from rx_tools.evidence.layout import MANIFEST
from rx_tools.evidence.manifest import manifest_text
from rx_tools.evidence.tree import open_tree

TRUE = Path(__file__).parent / "corpus" / "rehearsal-0.1"


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Forge:
    """`files` may be changed at will; `seal` makes manifest and description fit again.

    `record` and `lines` are the newest record and the ledger as documents. `reforge` writes them
    back: the record and its update, every digest that the ledger and the record state, the chain,
    and the seals. What then remains wrong is what the documents say.
    """

    def __init__(self, true=TRUE):
        self.files = dict(open_tree(true).files)
        self.record = json.loads(self.files["record.json"])
        self.lines = [json.loads(line) for line in self.files["ledger.jsonl"].splitlines()]

    @property
    def last_update(self):
        return max(path for path in self.files if path.startswith("updates/"))

    def seal(self):
        contents = {
            path: data for path, data in self.files.items() if path not in ("bundle.json", MANIFEST)
        }
        self.files = packed(contents)
        return self

    def remake_manifest(self):
        """Only the manifest made to fit."""
        digests = {p: sha(data) for p, data in self.files.items() if p != MANIFEST}
        self.files[MANIFEST] = manifest_text(digests)
        return self

    def reforge(self):
        for entry in self.record["evidence"]["files"]:
            data = self.files.get(f"evidence/{entry['name']}")
            if data is not None:
                entry["sha256"] = sha(data)
        rows = self.record["decision"].get("observations_file")
        if rows:
            rows["sha256"] = sha(self.files[f"evidence/{rows['name']}"])
        update = self.last_update
        self.files["record.json"] = self.files[update] = document(self.record)
        return self.rechain().seal()

    def rechain(self):
        previous, out = "0" * 64, []
        for number, line in enumerate(self.lines, 1):
            for name in line["files"]:
                found = [
                    p for p in (name, f"evidence/{name}", f"updates/{name}") if p in self.files
                ]
                if found:
                    line["files"][name] = sha(self.files[found[0]])
            raw = compact({**line, "seq": number, "prev": previous})
            previous = sha(raw)
            out.append(raw + b"\n")
        self.files["ledger.jsonl"] = b"".join(out)
        return self

    def write(self, place):
        for path, data in self.files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
        return place

    def at(self, event, number=0, **data):
        """The index of a line."""
        return self.all(event, **data)[number]

    def all(self, event, **data):
        return [
            index
            for index, line in enumerate(self.lines)
            if line["event"] == event and data.items() <= line["data"].items()
        ]

    def move(self, source, target):
        """A line in another place; the clock is made to fit."""
        times = [line["time"] for line in self.lines]
        self.lines.insert(target, self.lines.pop(source))
        for line, time in zip(self.lines, times, strict=True):
            line["time"] = time

    def drop(self, *indices):
        for index in sorted(indices, reverse=True):
            del self.lines[index]

    def insert(self, index, event, **data):
        line = copy.deepcopy(self.lines[index])
        self.lines.insert(index, line | {"event": event, "data": data, "files": {}})

    def rows(self, name):
        return [json.loads(line) for line in self.files[f"evidence/{name}"].splitlines()]

    def put_rows(self, name, rows):
        self.files[f"evidence/{name}"] = b"".join(compact(row) + b"\n" for row in rows)
