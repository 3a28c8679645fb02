"""A small experiment with the structure of the real one: two rates, two seeds, twelve steps."""

import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "lr-3e-4-vs-1e-4.spec.json"
SEEDS, STEPS, BATCH, ITEMS = (0, 1), 12, 8, 24


def small_spec():
    spec = json.loads(EXAMPLE.read_text())
    spec["arms"] = [arm for arm in spec["arms"] if arm["seed"] in SEEDS]
    groups = spec["restoration_preflight"]["groups"]
    spec["restoration_preflight"]["groups"] = groups[: len(SEEDS)]
    spec["decision_rule"]["seeds"] = list(SEEDS)
    spec |= {"steps": STEPS, "batch_size": BATCH}
    spec["dataset"]["n_examples"] = STEPS * BATCH
    spec["eval"]["n_examples"] = ITEMS
    for check in spec["activation_gate"]["checks"]:
        if check["metric"] == "executed_steps":
            check |= {"min": STEPS, "max": STEPS}
        if check["metric"] == "executed_batch_size":
            check |= {"min": BATCH, "max": BATCH}
    spec["command"] = (
        spec["command"]
        .replace("for S in 0 1 2", "for S in 0 1")
        .replace("batch_size=32", f"batch_size={BATCH}")
        .replace("max_steps=60", f"max_steps={STEPS}")
    )
    return spec


def rx(*arguments, cwd, check=None, timeout=600, largest_file=None, **environment):
    """Run the real command line; `check` is the exit code that is expected.

    `largest_file` bytes and no more: beyond it every write fails, as on a full disk.
    """
    limit = (largest_file, largest_file)
    limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, limit) if largest_file else None
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | environment
    done = subprocess.run(
        [sys.executable, "-m", "rx_tools", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        preexec_fn=limited,
    )
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def write_small(folder: Path, **changes) -> Path:
    path = folder / "small.spec.json"
    path.write_text(json.dumps(small_spec() | changes))
    return path
