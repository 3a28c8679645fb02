"""`docs/verify.py` needs no package, and agrees with `rx verify` on files and ledger."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE, Forge
from tests.evidence.test_forgeries import FORGERIES
from tests.evidence.test_reject import CORPUS, IN_ZIP, ON_DISK, ROOTS
from tests.evidence.test_tampering import TAMPERINGS

SCRIPT = Path(__file__).parents[2] / "docs" / "verify.py"
MAIN = runpy.run_path(str(SCRIPT))["main"]


@pytest.mark.parametrize("name", ROOTS)
def test_it_runs_without_the_package_and_prints_the_root(name):
    command = [sys.executable, "-I", "-S", SCRIPT, CORPUS / name, ROOTS[name]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ROOTS[name] in done.stdout
    assert MAIN(CORPUS / name, "0" * 64) == 4


def test_it_is_short_enough_to_be_read():
    lines = SCRIPT.read_text().splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 100


def test_what_is_no_bundle_is_told_apart(tmp_path):
    assert MAIN(tmp_path) == 3


@pytest.mark.parametrize("vector", ON_DISK)
def test_it_refuses_what_was_touched_on_disk(tmp_path, vector):
    bundle = shutil.copytree(TRUE, tmp_path / "bundle")
    ON_DISK[vector][0](bundle)
    assert MAIN(bundle) == 4


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("vector", IN_ZIP)
def test_it_refuses_odd_archives(tmp_path, vector):
    IN_ZIP[vector][0](tmp_path / "bundle.zip")
    assert MAIN(tmp_path / "bundle.zip") == 4


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_it_refuses_a_tampered_ledger_whose_head_was_noted(tmp_path, kind):
    forge = Forge().seal()
    described = forge.files["bundle.json"]
    forge.files["ledger.jsonl"] = TAMPERINGS[kind][0]()
    forge.files["bundle.json"] = described
    forge.remake_manifest()
    assert MAIN(forge.write(tmp_path / "bundle")) == 4


BELONGS_TO_FILES_OR_LEDGER = (
    "bundle.json: describes",
    "bundle.json: ledger_head",
    "ledger.jsonl: line",
    "announced",
    "is not the newest update",
    "the updates are numbered",
    "caps: ",
)


BEYOND = ("a lying kind",)
"""What the description says of a file's kind follows from the record, which is not read here."""


@pytest.mark.parametrize("forgery", FORGERIES)
def test_it_says_of_a_forgery_what_rx_says_of_its_files_and_its_ledger(tmp_path, forgery):
    forge = Forge()
    FORGERIES[forgery][0](forge)
    bundle = forge.write(tmp_path / "bundle")
    stated = [
        f"{claim.subject}: {claim.message}" for claim in verify(bundle).of(State.CONTRADICTED)
    ]
    concerned = any(part in line for line in stated for part in BELONGS_TO_FILES_OR_LEDGER)
    if concerned and forgery not in BEYOND:
        assert MAIN(bundle) == 4
    elif "duplicate key" not in str(stated) and "no finite number" not in str(stated):
        assert MAIN(bundle) == 0
