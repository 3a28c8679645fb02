"""The cookbook's `chat_sl` recipe, unmodified and offline, trains against the service."""

import json
import os
import shutil
import subprocess
import sys

from rx_tools.local.assets import chats_bytes, tokenizer_folder
from rx_tools.local.launcher import launch

from .conftest import MODEL

STEPS = 10


def lay_out(folder) -> None:
    """Where the recipe's relative names resolve to: a tokenizer and a dataset."""
    shutil.copytree(tokenizer_folder(), folder / MODEL)
    data = folder / "HuggingFaceH4" / "no_robots" / "data"
    data.mkdir(parents=True)
    for split, count in (("train", 200), ("test", 20)):
        rows = [json.loads(line) for line in chats_bytes(split).splitlines()[:count]]
        lines = [json.dumps(row | {"prompt": "", "category": ""}) for row in rows]
        (data / f"{split}-00000-of-00001.jsonl").write_text("\n".join(lines) + "\n")


def test_chat_sl_trains_ten_steps(tmp_path):
    lay_out(tmp_path)
    with launch(tmp_path / "store", model_names=[MODEL]) as running:
        done = subprocess.run(
            [
                sys.executable, "-m", "tinker_cookbook.recipes.chat_sl.train",
                f"model_name={MODEL}", "dataset=no_robots", "renderer_name=qwen3_5",
                f"log_path={tmp_path / 'out'}", "batch_size=8", "learning_rate=3e-3",
                "behavior_if_log_dir_exists=delete", f"max_steps={STEPS}", "max_length=2048",
            ],
            cwd=tmp_path, capture_output=True, text=True, timeout=300,
            env=os.environ | dict(running.environment)
            | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").open()]
    losses = [row["train_mean_nll"] for row in rows if "train_mean_nll" in row]
    assert len(losses) == STEPS
    assert losses[-1] < losses[0]
    final = (tmp_path / "out" / "checkpoints.jsonl").read_text().splitlines()[-1]
    assert json.loads(final)["name"] == "final"
