"""Claim: parity of two 1 GiB files at 0.5 GB/s or more, both counted, in under 300 MiB.

    python benchmarks/parity_files.py [MiB per file]

Prints one line per element type: the best throughput of three processes, its ratio to reading
and hashing the same bytes (the best of three as well), and the peak resident memory of a process.
"""

import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MEASURE = """
import sys, time
from pathlib import Path
from rx_tools.evidence.tensors import compare_files
started = time.perf_counter()
errors = compare_files(Path(sys.argv[1]), Path(sys.argv[2]))
spent = time.perf_counter() - started
assert errors.status == "measured", errors.reason
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(spent, int(peak) / 1024)
"""
TYPES = ("F32", "BF16", "F16", "F64")


def write(path: Path, dtype: str, size: int, factor: float) -> None:
    """One file with one tensor: a million normal values, repeated."""
    block = (np.random.default_rng(1).standard_normal(2**20) * factor).astype(np.float64)
    raw = {
        "F64": block.tobytes,
        "F16": lambda: block.astype("<f2").tobytes(),
        "F32": lambda: block.astype("<f4").tobytes(),
        "BF16": lambda: (block.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes(),
    }[dtype]()
    count = size // len(raw)
    header = (
        f'{{"w":{{"dtype":"{dtype}","shape":[{count * 2**20}],'
        f'"data_offsets":[0,{count * len(raw)}]}}}}'
    ).encode()
    with path.open("wb") as out:
        out.write(len(header).to_bytes(8, "little") + header)
        for _ in range(count):
            out.write(raw)


def hashing_seconds(paths: list[Path]) -> float:
    """Reading and SHA-256 of the same bytes."""
    started = time.perf_counter()
    for path in paths:
        with path.open("rb") as handle:
            hashlib.file_digest(handle, "sha256")
    return time.perf_counter() - started


def measured(paths: list[Path]) -> tuple[float, float]:
    """Seconds and peak MiB of a process that compares the files."""
    command = [sys.executable, "-c", MEASURE, *map(str, paths)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    spent, peak = map(float, out.stdout.split())
    return spent, peak


def main(mebibytes: int) -> None:
    for dtype in TYPES:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("a.safetensors", "r.safetensors")]
            for path, factor in zip(paths, (1.01, 1.0), strict=True):
                write(path, dtype, mebibytes * 2**20, factor)
            total = sum(path.stat().st_size for path in paths)
            reference = min(hashing_seconds(paths) for _ in range(3))
            spent, peak = min(measured(paths) for _ in range(3))
            print(
                f"{dtype}: {total / spent / 1e9:.2f} GB/s, {spent / reference:.2f} x the time of"
                f" read + sha256, peak {peak:.0f} MiB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024)
