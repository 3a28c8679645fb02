"""Fifty thousand observation rows (10 MiB) read, hashed, parsed strictly and averaged.

The reference is reading and hashing the same bytes; both run in this process, best of fifteen.
Also prints the peak memory of a whole `rx decide` on that file. Run with
`python benchmarks/decision_speed.py`.
"""

import hashlib
import json
import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from rx_tools.checks.deciding.cells import means_of, read_observations
from rx_tools.checks.deciding.observation_rows import MAX_BYTES
from rx_tools.checks.deciding.rule import read_rule
from rx_tools.evidence.observations import read_observation_file

METRIC = "held_out_token_mean_nll"
ITEMS, SEEDS, REPEATS = 500, 50, 15
ALLOWED_RATIO, ALLOWED_MIB = 8.0, 200
RULE = {
    "version": 1,
    "unit": "training_seed",
    "seeds": list(range(SEEDS)),
    "alpha": 0.05,
    "method": "paired_t",
    "assumptions": {
        "independent_seed_effects": True,
        "identically_distributed_seed_effects": True,
        "normal_seed_effects": True,
    },
    "criteria": [
        {
            "id": "primary",
            "metric": METRIC,
            "weights": {"baseline": 1, "treatment": -1},
            "margin": 0.02,
        }
    ],
}


def write_rows(path: Path) -> None:
    """Typical conformant rows: full evaluator id, unrounded values."""
    with path.open("w") as stream:
        for seed in range(SEEDS):
            for role, shift in (("baseline", 0.03 + 0.001 * math.cos(seed)), ("treatment", 0.0)):
                for item in range(ITEMS):
                    row = {
                        "item_id": f"test:{item:05d}",
                        "arm": role,
                        "seed": seed,
                        "metric": METRIC,
                        "value": 2 + math.sin(seed * 1000 + item) / 7 - shift,
                        "evaluator_id": "e" * 64,
                    }
                    stream.write(json.dumps(row) + "\n")


def best(job: Callable[[], object]) -> float:
    """The quickest of several runs, in processor seconds: the machine may be busy with others."""
    times = []
    for _ in range(REPEATS):
        start = process_time()
        job()
        times.append(process_time() - start)
    return min(times)


def peak_memory(rows: Path, rule: Path) -> float:
    """The largest resident set of `rx decide`, in MiB."""
    words = ["decide", "--rule", str(rule), "--observations", str(rows), "--quiet"]
    subprocess.run([sys.executable, "-m", "rx_tools", *words], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Print the ratio and the memory; exit 1 when either is too large."""
    rule, _ = read_rule(RULE)
    assert rule is not None
    with tempfile.TemporaryDirectory() as folder:
        path, rule_path = Path(folder) / "rows.jsonl", Path(folder) / "rule.json"
        write_rows(path)
        rule_path.write_text(json.dumps(RULE))
        size = path.stat().st_size
        assert size <= MAX_BYTES, size

        def whole_job() -> object:
            file = read_observation_file(path)
            values, issues = read_observations(rule, file.rows)
            assert not issues, issues
            return means_of(values)

        reference = best(lambda: hashlib.sha256(path.read_bytes()).hexdigest())
        whole = best(whole_job)
        memory = peak_memory(path, rule_path)
    rows = ITEMS * SEEDS * 2
    print(f"{rows:,} rows, {size / 2**20:.2f} MiB: read and hash {reference * 1e3:.1f} ms")
    print(f"read, hash, strict parse, exact means: {whole * 1e3:.1f} ms")
    print(f"ratio {whole / reference:.2f} (at most {ALLOWED_RATIO:g})")
    print(f"peak memory of rx decide: {memory:.0f} MiB (below {ALLOWED_MIB})")
    sys.exit(0 if whole / reference <= ALLOWED_RATIO and memory < ALLOWED_MIB else 1)


if __name__ == "__main__":
    main()
