"""Status, page and comparison of the run that the real command line made."""

import json
import re
import shutil

from tests.endtoend.small import STEPS, rx


def test_status_knows_what_the_record_knows(rehearsed):
    done = rx("status", rehearsed.run, "--format", "json", cwd=rehearsed.folder, check=0)
    status, record = json.loads(done.stdout), rehearsed.record
    assert (status["phase"], status["verdict"]) == ("finished", record["verdict"])
    assert status["outcome_reason"] == record["outcome_reason"]
    scores = {arm["name"]: arm["score"] for arm in status["arms"]}
    assert scores == {
        arm: values["token_mean_nll"] for arm, values in record["metrics"]["arms"].items()
    }
    assert {arm["steps"] for arm in status["arms"]} == {STEPS}
    assert {gate["status"] for gate in status["gates"]} <= {
        "passed",
        "not_applicable",
        "recomputed",
    }
    assert status["ledger"]["damage"] == []
    assert status["evidence"]["files"] == len(record["evidence"]["files"])
    assert status["bundle"] == str(rehearsed.bundle)


def test_the_page_shows_the_interval_of_the_record_and_the_root_digest(rehearsed):
    page = rehearsed.folder / "report.html"
    rx("report", rehearsed.run, "-o", page, cwd=rehearsed.folder, check=0)
    text, metrics = page.read_text(), rehearsed.record["metrics"]
    for figure in ("D_mean", "D_ci_low", "D_ci_high"):
        assert f"{metrics[figure]:.6g}" in text
    root = re.search(r"root digest: ([0-9a-f]{64})", rehearsed.output)[1]
    assert f"root digest <code>{root}</code>" in text
    assert "differs from" not in text
    for entry in rehearsed.record["evidence"]["files"]:
        assert entry["sha256"] in text


def test_a_run_equals_its_bundle_and_not_a_changed_copy(rehearsed, tmp_path):
    done = rx("diff", rehearsed.run, rehearsed.bundle, cwd=rehearsed.folder, check=0)
    assert done.stdout.startswith("equal")
    copy = tmp_path / "copy"
    shutil.copytree(rehearsed.bundle, copy)
    spec = json.loads((copy / "spec.json").read_text())
    (copy / "spec.json").write_text(json.dumps(spec | {"lora_rank": 7}))
    done = rx("diff", rehearsed.run, copy, cwd=rehearsed.folder, check=1)
    assert "$.lora_rank" in done.stdout
