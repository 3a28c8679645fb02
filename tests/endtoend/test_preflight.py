"""What keeps the gates closed before anything trains, and what the user is told then."""

import json

import pytest

from rx_tools.local.launcher import launch
from tests.endtoend.small import rx, small_spec

MODEL, CHATS = "rx/tiny-qwen3", "rx/built-in-chats"


def served_spec():
    """The small experiment on the embedded model and chats themselves: no rehearsal."""
    spec = small_spec()
    text = json.dumps(spec).replace(spec["base_model"], MODEL)
    spec = json.loads(text)
    spec["dataset"]["hf_path"] = CHATS
    return spec


def test_a_budget_that_cannot_hold_and_a_metric_that_nobody_measures(tmp_path):
    spec = small_spec()
    spec["budget"]["max_wall_minutes"] = 0.001
    spec["activation_gate"]["checks"].append({"metric": "mean_entropy", "min": 0.0})
    path, run = tmp_path / "tight.json", tmp_path / "run"
    path.write_text(json.dumps(spec))
    done = rx("preflight", path, "--rehearse", "--run-dir", run, cwd=tmp_path, check=1)
    assert "mean_entropy" in done.stdout
    assert "to fit: shorten the confirmation by a quarter: saves" in done.stdout
    assert "not cleared" in done.stdout
    assert not list(run.glob("clearance-*"))
    note = json.loads((run / "evidence" / "preflight-activation.json").read_text())
    assert "--metrics" in note["activation_calibration"]["note"]
    refused = rx("train", "--arm", "baseline_lr1e-4_seed0", cwd=run, check=4)
    assert "no clearance" in refused.stderr


def test_a_metric_measured_elsewhere_is_shown_as_such(tmp_path):
    spec = small_spec()
    spec["activation_gate"]["checks"].append({"metric": "mean_entropy", "min": 0.0})
    path, run, metrics = tmp_path / "spec.json", tmp_path / "run", tmp_path / "metrics.json"
    path.write_text(json.dumps(spec))
    metrics.write_text('{"mean_entropy": 1.5}')
    arguments = ("preflight", path, "--rehearse", "--metrics", metrics, "--run-dir", run)
    rx(*arguments, cwd=tmp_path, check=0)
    section = json.loads((run / "evidence" / "preflight-activation.json").read_text())
    calibration = section["activation_calibration"]
    assert calibration["values"]["mean_entropy"] == 1.5
    assert "mean_entropy: not measured here." in calibration["note"]


@pytest.mark.parametrize("fault", ["cold-restore", "adamw-on-restore"])
def test_a_service_that_restores_badly_is_contradicted_or_harmless(fault, tmp_path):
    """A cold restore contradicts AdamW; falling back to AdamW cannot, for AdamW is asked for."""
    path, run = tmp_path / "served.json", tmp_path / "run"
    path.write_text(json.dumps(served_spec()))
    with launch(tmp_path / "store", faults=[fault]) as service:
        arguments = ("preflight", path, "--run-dir", run)
        done = rx(*arguments, cwd=tmp_path, **service.environment)
    if fault == "cold-restore":
        assert done.returncode == 1
        assert "✗ optimizer: adamw" in done.stdout
        assert not list(run.glob("clearance-*"))
    else:
        assert done.returncode == 0, done.stdout


def test_an_unserved_model_names_the_closest_of_its_family(tmp_path):
    spec = small_spec()
    path = tmp_path / "unserved.json"
    path.write_text(json.dumps(spec))
    with launch(tmp_path / "store", model_names=["Qwen/Qwen3.5-4B"]) as service:
        done = rx("preflight", path, cwd=tmp_path, check=5, **service.environment)
    assert "--deviate model=Qwen/Qwen3.5-4B" in done.stderr
