"""The verification of whole bundles; `test_reject.py` has the ones that must be refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_run import SmallRun

from rx_tools.errors import ExitCode, UnverifiedError
from rx_tools.evidence.bundle import bundle
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify


def rx(*words):
    command = [sys.executable, "-m", "rx_tools", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("restored", ["", "treatment_lr3e-4_seed1"])
def test_a_faithful_bundle_is_verified(tmp_path, zipped, restored):
    run_dir = SmallRun(tmp_path / "run").build(restore=restored)
    info = bundle(run_dir, tmp_path / "out", zip=zipped)
    found = verify(tmp_path / "out", root=info.root_digest)
    assert not found.of(State.CONTRADICTED)
    assert found.root_digest == info.root_digest
    assert all(not claim.weighs for claim in found.of(State.OPEN))
    assert found.exit_code is ExitCode.OK


def test_the_command_answers_in_text_and_json_with_the_same_code(tmp_path):
    info = bundle(SmallRun(tmp_path / "run").build(), tmp_path / "out")
    text = rx("verify", tmp_path / "out", "--all")
    answer = json.loads(rx("verify", tmp_path / "out", "--format", "json").stdout)
    assert text.returncode == answer["exit_code"] == 0, text.stdout
    assert f"root digest {info.root_digest}" in text.stdout
    assert answer["summary"]["verified"] == text.stdout.count("\nverified  ")
    wrong = rx("verify", tmp_path / "out", "--root", "0" * 64, "--quiet")
    assert (wrong.returncode, wrong.stdout) == (4, "")


def test_what_is_no_bundle_is_not_verified(tmp_path):
    with pytest.raises(UnverifiedError, match="is no bundle"):
        verify(tmp_path)
    assert rx("verify", tmp_path).returncode == 3
    assert rx("verify", tmp_path / "nothing").returncode == 2
