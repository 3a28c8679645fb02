"""Evidence: a 40 MiB bundle, 100,000 ledger lines, appends with fsync, the secret scan.

Prints each time (processor time, except for the appends) and its ratio to SHA-256 over the same
bytes, or to its limit.
"""

# ruff: noqa: ANN001, ANN201
import hashlib
import json
import statistics
import tempfile
import time
from itertools import groupby
from pathlib import Path

from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.evidence.canonical import compact, document
from rx_tools.evidence.digest import ZEROS, sha256_of
from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.ledger_reading import judge_ledger
from rx_tools.evidence.manifest import parse_manifest
from rx_tools.evidence.secrets import scan
from rx_tools.evidence.tree import open_tree
from rx_tools.evidence.verify import verify
from rx_tools.evidence.verify_files import differences
from tests.evidence.forge import Forge

MIB = 1 << 20


def best(action, repeats=7):
    """The shortest of several times of this process's own work, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def large_bundle(place):
    """The small rehearsal as if each of its items had been there 512 times: 40 MiB that verify.

    Sums grow by a power of two, means and the decision stay as they are to the last bit.
    """
    forge = Forge()
    ((old, provenance),) = forge.record["evaluation"]["evaluators"].items()
    ids = {
        item: [f"{n:04x}" for n in range(i, 512 * 24, 24)] for i, item in enumerate(items(forge))
    }
    provenance["items"]["ids"] = sorted(name for names in ids.values() for name in names)
    new = evaluator_id(provenance)
    for path, data in forge.files.items():
        if path.rpartition("/")[2].startswith(("predictions-", "scored-", "items-")):
            forge.files[path] = many_times(data, ids).replace(old.encode(), new.encode())
        if path.startswith("updates/"):
            forge.files[path] = document(grown(json.loads(data), old, new, provenance))
    forge.record = grown(forge.record, old, new, provenance)
    forge.lines = grown(forge.lines, old, new, provenance)
    forge.record["evidence"]["files"].append(
        {"name": "predictions-spare.jsonl", "kind": "predictions"}
    )
    forge.files["evidence/predictions-spare.jsonl"] = spare(forge)
    return forge.reforge().write(place)


def items(forge):
    """The item ids of the rehearsal, in order."""
    return [row["item_id"] for row in forge.rows("items-confirmation.jsonl")]


def many_times(rows, ids):
    """Every row once for each of its item's new ids, and the cells one after another."""
    found = []
    for _, block in groupby(
        map(json.loads, rows.splitlines()), lambda r: (r.get("arm"), r.get("seed"))
    ):
        found += sorted(
            compact({**row, "item_id": name}) + b"\n"
            for row in block
            for name in ids[row["item_id"]]
        )
    return b"".join(found)


def grown(value, old, new, provenance):
    """A document with the new evaluator and 512 times the counts and sums of a loss."""
    match value:
        case dict() if "parser" in value:
            return provenance
        case dict():
            sums = ("n_tokens", "n_examples", "nll_sum") if "n_tokens" in value else ()
            return {
                new if key == old else key: inner * 512
                if key in sums
                else grown(inner, old, new, provenance)
                for key, inner in value.items()
            }
        case list():
            return [grown(inner, old, new, provenance) for inner in value]
        case _:
            return new if value == old else value


def spare(forge):
    """Predictions of an arm that was not compared, as many as there is room for."""
    room = 40 * MIB - sum(len(d) for p, d in forge.files.items() if p.startswith("evidence/"))
    rows = forge.files["evidence/predictions-base.jsonl"].replace(b'"base"', b'"spare"')
    return rows[: rows[:room].rindex(b"\n") + 1]


def hash_level(place):
    """Read everything, and compare every digest with the manifest."""
    files = open_tree(place).files
    assert not list(differences(files, parse_manifest(files["manifest-sha256.txt"])))


def sha_level(place):
    """Read everything and hash it: what any tool must do."""
    for path in sorted(place.rglob("*")):
        if path.is_file():
            hashlib.sha256(path.read_bytes()).digest()


def ledger_bytes(count):
    """A ledger of updates."""
    previous, lines = ZEROS, []
    for seq in range(1, count + 1):
        raw = compact(update(seq, previous))
        previous = sha256_of(raw)
        lines.append(raw + b"\n")
    return b"".join(lines)


def update(seq, previous):
    data = {
        "arm": "baseline_seed0",
        "step": seq,
        "batch_sha256": "ab" * 32,
        "learning_rate": 1e-4,
        "optimizer": "adamw",
        "train_nll": 2.0 + seq / 1e6,
    }
    return {
        "seq": seq,
        "time": f"2026-11-29T20:10:00.{seq:06d}Z",
        "run": "run-1",
        "event": "update_acknowledged",
        "data": data,
        "files": {},
        "prev": previous,
    }


def append_times(path, count=300):
    """Seconds of each append with fsync."""
    times = []
    with Ledger.create(path, "run-1") as ledger:
        for seq in range(count):
            start = time.perf_counter()
            ledger.append("update_acknowledged", update(seq, ZEROS)["data"])
            times.append(time.perf_counter() - start)
    return times


def main():
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        times = append_times(Path(folder, "ledger.jsonl"))
        print(f"append with fsync: median {statistics.median(times) * 1e3:.2f} ms (limit 2)")
        place = large_bundle(Path(folder, "large"))
        size = sum(p.stat().st_size for p in place.rglob("*") if p.is_file())
        bare = best(lambda: sha_level(place))
        print(f"SHA-256 over {size / MIB:.1f} MiB: {bare * 1e3:.0f} ms")
        level = best(lambda: hash_level(place))
        print(f"hash level: {level * 1e3:.0f} ms, ratio {level / bare:.2f} (limit 2)")
        assert verify(place).exit_code == 0
        full = best(lambda: verify(place))
        files = open_tree(place).files
        print(f"full verification: {full * 1e3:.0f} ms, ratio {full / bare:.2f} (limit 12)")
    ledger = ledger_bytes(100_000)
    judged = best(lambda: judge_ledger(ledger), 3)
    print(f"100,000 ledger lines ({len(ledger) / MIB:.0f} MiB): {judged:.2f} s (limit 1)")
    rows = files["evidence/scored-observations.jsonl"]
    rows = (rows * 2)[: 10 * MIB]
    known = {"TINKER_API_KEY": "correct-horse-battery", "OTHER_TOKEN": "staple/with+odd=chars"}
    print(f"secrets in 10 MiB: {best(lambda: scan(rows, known)):.3f} s (limit 0.1)")


if __name__ == "__main__":
    main()
