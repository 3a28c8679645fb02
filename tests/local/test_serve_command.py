"""`rx serve` in a terminal and without one."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import tinker

from rx_tools.local.fault_catalogue import CATALOGUE
from rx_tools.local.launcher import launch

COMMAND = [sys.executable, "-m", "rx_tools", "serve"]
ROOT = str(Path(__file__).parents[2])


def start(folder, *words, **streams):
    return subprocess.Popen(
        [*COMMAND, *words], cwd=folder, env=os.environ | {"PYTHONPATH": ROOT, "TERM": "xterm"},
        **streams,
    )  # fmt: skip


def test_it_prints_two_lines_to_copy_and_ends_cleanly_on_ctrl_c(tmp_path):
    process = start(tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [process.stdout.readline(), process.stdout.readline()]
    assert re.fullmatch(r"export TINKER_BASE_URL=http://127\.0\.0\.1:\d+\n", lines[0])
    assert re.fullmatch(r"export TINKER_API_KEY=tml-local-\S+\n", lines[1])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == ""
    assert "stopped after 0 requests" in err


def test_on_a_terminal_it_shows_the_requests(tmp_path):
    leader, follower = pty.openpty()
    process = start(tmp_path, stdout=subprocess.PIPE, stderr=follower, text=True)
    os.close(follower)
    url = process.stdout.readline().partition("=")[2].strip()
    urllib.request.urlopen(f"{url}/api/v1/healthz", timeout=10).read()
    seen, until = b"", time.monotonic() + 20
    while b"healthz" not in seen and time.monotonic() < until:
        seen += os.read(leader, 65536)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)
    process.stdout.close()
    os.close(leader)
    assert b"healthz" in seen
    assert b"1 requests" in seen


def test_ctrl_c_loses_nothing_that_was_answered(tmp_path):
    process = start(tmp_path, "--quiet", stdout=subprocess.PIPE, text=True)
    url, key = (process.stdout.readline().partition("=")[2].strip() for _ in range(2))
    client = tinker.ServiceClient(base_url=url, api_key=key)
    model = client.create_lora_training_client("rx/tiny-qwen3", rank=4).result(timeout=60)
    saves = [model.save_state(f"c{index}") for index in range(5)]
    path = saves[2].result(timeout=60).path
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0
    process.stdout.close()
    with launch(tmp_path / "rx-serve") as running:
        again = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
        loaded = again.create_training_client_from_state_with_optimizer(path).result(timeout=60)
        assert loaded.get_info().lora_rank == 4


def test_its_help_names_every_fault(tmp_path):
    done = subprocess.run(
        [*COMMAND, "--help"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": ROOT},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert all(name in done.stdout for name in CATALOGUE)


def test_an_unknown_fault_is_a_usage_error(tmp_path):
    done = subprocess.run(
        [*COMMAND, "--fault", "no-such"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": ROOT},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("rx: --fault no-such: unknown")
