"""Evidence: a 40 MiB bundle, 100,000 ledger lines, appends with fsync, the secret scan.

Prints each time (processor time, except for the appends) and its ratio to SHA-256 over the same
bytes, or to its limit.
"""

# ruff: noqa: ANN001, ANN201
import hashlib
import random
import statistics
import tempfile
import time
from pathlib import Path

from rx_tools.evidence.canonical import compact
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


def best(action, repeats=5):
    """The shortest of several times of this process's own work, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def large_bundle(place):
    """The small rehearsal with its evidence grown to 40 MiB of listed predictions."""
    draw = random.Random(7)
    forge = Forge()
    (evaluator,) = forge.record["evaluation"]["evaluators"]
    listed = forge.record["evidence"]["files"]
    used = sum(len(data) for path, data in forge.files.items() if path.startswith("evidence/"))
    left = 40 * MIB - used - 4096
    for number in range(5):
        size, rows = min(left // (5 - number), 9 * MIB), []
        while size > 600:
            rows.append(compact(prediction(number, len(rows), evaluator, draw)) + b"\n")
            size -= len(rows[-1])
        name = f"predictions-spare-{number}.jsonl"
        forge.record["evaluation"]["scores"].append({"arm": "x", "predictions_ref": name})
        forge.record["loss_eval"]["arms"][f"spare-{number}"] = {}
        listed.append({"name": name, "kind": "predictions"})
        forge.files[f"evidence/{name}"] = b"".join(rows)
        left -= len(forge.files[f"evidence/{name}"])
    return forge.reforge().write(place)


def prediction(number, item, evaluator, draw):
    return {
        "arm": f"spare-{number}",
        "checkpoint": "tinker://5d3f/weights/final",
        "item_id": f"rx-test-{item:05d}",
        "evaluator_id": evaluator,
        "metric": "token_mean held-out NLL (nats/token) at step 60",
        "prediction": {"n_tokens": 17, "nll_sum": draw.random() * 99},
        "reference": {"datum_sha256": draw.randbytes(32).hex()},
        "seed": 0,
    }


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
        full = best(lambda: verify(place), 3)
        files = open_tree(place).files
        print(f"full verification: {full * 1e3:.0f} ms, ratio {full / bare:.2f} (limit 12)")
    ledger = ledger_bytes(100_000)
    judged = best(lambda: judge_ledger(ledger), 3)
    print(f"100,000 ledger lines ({len(ledger) / MIB:.0f} MiB): {judged:.2f} s (limit 1)")
    rows = files["evidence/predictions-spare-0.jsonl"]
    rows = (rows * 2)[: 10 * MIB]
    known = {"TINKER_API_KEY": "correct-horse-battery", "OTHER_TOKEN": "staple/with+odd=chars"}
    print(f"secrets in 10 MiB: {best(lambda: scan(rows, known)):.3f} s (limit 0.1)")


if __name__ == "__main__":
    main()
