"""The verification of whole bundles; `test_reject.py` has the ones that must be refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rx_tools.errors import UnverifiedError
from rx_tools.evidence.bundle import bundle
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE
from tests.evidence.small_run import SmallRun


def rx(*words):
    command = [sys.executable, "-m", "rx_tools", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_packed_run_keeps_its_root_and_its_ledger_level_is_verified(tmp_path, zipped):
    run_dir = SmallRun(tmp_path / "run").build(restore="treatment_lr3e-4_seed1")
    info = bundle(run_dir, tmp_path / "out", zip=zipped)
    found = verify(tmp_path / "out", root=info.root_digest)
    assert found.root_digest == info.root_digest
    messages = [f"{claim.subject}: {claim.message}" for claim in found.of(State.VERIFIED)]
    assert any("4 updates, 1 restores, 3 steps, in order" in line for line in messages)
    assert "record.json initialization of treatment_lr3e-4_seed1: restore_count is 1" in messages


def test_the_command_answers_in_text_and_json_with_the_same_code():
    text = rx("verify", TRUE, "--all")
    answer = json.loads(rx("verify", TRUE, "--format", "json").stdout)
    assert text.returncode == answer["exit_code"] == 0, text.stdout
    assert f"root digest {answer['root_digest']}" in text.stdout
    assert answer["summary"]["verified"] == f"\n{text.stdout}".count("\nverified  ")
    wrong = rx("verify", TRUE, "--root", "0" * 64, "--quiet")
    assert (wrong.returncode, wrong.stdout) == (4, "")


def test_what_is_no_bundle_is_not_verified(tmp_path):
    with pytest.raises(UnverifiedError, match="is no bundle"):
        verify(tmp_path)
    assert rx("verify", tmp_path).returncode == 3
    assert rx("verify", tmp_path / "nothing").returncode == 2
