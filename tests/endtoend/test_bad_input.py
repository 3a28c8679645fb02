"""What a tired user types: one clear line, the right exit code, nothing half-written."""

import json

import pytest

from tests.endtoend.small import rx, small_spec, write_small


def one_line(done):
    return [line for line in done.stderr.splitlines() if line.startswith("rx: ")]


def test_missing_file(tmp_path):
    done = rx("run", "nowhere.json", "--rehearse", cwd=tmp_path, check=2)
    assert len(one_line(done)) == 1
    assert "nowhere.json" in done.stderr


def test_invalid_json_names_line_and_column(tmp_path):
    (tmp_path / "broken.json").write_text('{"title": "x",\n  oops}')
    done = rx("run", "broken.json", "--rehearse", cwd=tmp_path, check=1)
    assert "broken.json:2:" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_spec_without_decision_rule(tmp_path):
    spec = small_spec()
    del spec["decision_rule"]
    path = tmp_path / "ruleless.json"
    path.write_text(json.dumps(spec))
    done = rx("run", path, "--rehearse", cwd=tmp_path)
    assert done.returncode in (1, 3)
    assert len(one_line(done)) == 1
    assert not (tmp_path / "runs").exists()


def test_missing_credentials_are_named(tmp_path):
    spec = write_small(tmp_path)
    done = rx("preflight", spec, cwd=tmp_path, check=2, TINKER_BASE_URL="", TINKER_API_KEY="")
    assert "TINKER_BASE_URL, TINKER_API_KEY not set" in done.stderr


def test_an_unreachable_service_is_told_within_seconds(tmp_path):
    spec = write_small(tmp_path)
    done = rx(
        "preflight",
        spec,
        cwd=tmp_path,
        check=5,
        timeout=60,
        TINKER_BASE_URL="http://127.0.0.1:9",
        TINKER_API_KEY="tml-secret-value",
    )
    assert len(one_line(done)) == 1
    assert "tml-secret-value" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--accept-unverified", "nothing"), "no gate is named"),
        (("--deviate", "objective=ppo"), "no change that can be declared"),
        (("--metrics", "absent.json"), "absent.json"),
        (("--plan", "absent.json"), "absent.json"),
    ],
)
def test_options_that_cannot_be_meant(arguments, says, tmp_path):
    done = rx("run", write_small(tmp_path), "--rehearse", *arguments, cwd=tmp_path, check=2)
    assert says in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["train", "record", "status", "decide"])
def test_outside_a_run_directory(command, tmp_path):
    arguments = ["--arm", "x"] if command == "train" else []
    done = rx(command, *arguments, cwd=tmp_path, check=2)
    assert "run.json" in done.stderr


def test_an_unknown_arm_names_the_known_ones(rehearsed):
    done = rx("train", "--arm", "nobody", "--run-dir", rehearsed.run, cwd=rehearsed.folder, check=2)
    assert "baseline_lr1e-4_seed0" in done.stderr


def test_another_spec_is_not_this_run(rehearsed, tmp_path):
    other = write_small(tmp_path, title="another one")
    arguments = ("train", "--arm", "baseline_lr1e-4_seed0", other, "--run-dir", rehearsed.run)
    assert "not the spec of this run" in rx(*arguments, cwd=tmp_path, check=4).stderr
