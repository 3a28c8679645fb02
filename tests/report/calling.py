"""The command line as a user calls it, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def rx(*arguments, cwd=None, env=None):
    """The finished process of `rx ARGUMENTS`."""
    command = [sys.executable, "-m", "rx_tools", *map(str, arguments)]
    variables = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=variables, check=False, timeout=120
    )


def rx_json(*arguments, **options):
    """The document that it printed."""
    return json.loads(rx(*arguments, "--format", "json", **options).stdout)
