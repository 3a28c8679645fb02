"""Process start to ready: at most 0.5 s. Run with `python -m benchmarks.serve_start`."""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.serving import launch, report


def once() -> float:
    """Seconds from the start of the process until it listens."""
    with TemporaryDirectory() as folder:
        begin = perf_counter()
        with launch(Path(folder)):
            return perf_counter() - begin


if __name__ == "__main__":
    times = sorted(once() for _ in range(7))
    report("start to ready, median of 7", median(times), 0.5, "s")
    report("start to ready, best of 7", times[0], 0.5, "s")
