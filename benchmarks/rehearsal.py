"""A rehearsal of the six-arm example: its wall time as a share of three minutes.

Run as `python benchmarks/rehearsal.py [SPEC [MINUTES]]`.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    spec = sys.argv[1] if len(sys.argv) > 1 else ROOT / "examples" / "lr-3e-4-vs-1e-4.spec.json"
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "rx_tools", "run", str(spec), "--rehearse", "--quiet"]
        began = time.monotonic()
        subprocess.run(
            [sys.executable, *command, "--run-dir", f"{folder}/run"], check=True, cwd=ROOT
        )
        seconds = time.monotonic() - began
    print(f"rehearsal / {minutes:g} minutes: {seconds / (60 * minutes):.2f} ({seconds:.0f} s)")


if __name__ == "__main__":
    main()
