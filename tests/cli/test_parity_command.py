"""`rx parity` as a user calls it: real files, the real command line."""

import json
import subprocess
import sys

import numpy as np
import pytest

from rx_tools.checks.shape import validator
from rx_tools.cli.app import build
from rx_tools.evidence.tensors import safetensors_bytes


@pytest.fixture
def files(tmp_path):
    reference = {"a": np.full(4, 1e-3), "b": np.array([1.0, 2.0])}
    halved = {name: values / 2 for name, values in reference.items()}
    np.savez(tmp_path / "reference.npz", **reference)
    (tmp_path / "same.safetensors").write_bytes(safetensors_bytes(reference))
    (tmp_path / "halved.safetensors").write_bytes(safetensors_bytes(halved))
    np.savez(tmp_path / "zero.npz", **{**reference, "a": np.zeros(4)})
    np.savez(tmp_path / "nothing.npz")
    return tmp_path


def rx(capsys, *words):
    with pytest.raises(SystemExit) as left:
        build(["parity"])(["parity", *map(str, words)])
    captured = capsys.readouterr()
    return left.value.code, captured.out, captured.err


@pytest.mark.parametrize(
    ("actual", "options", "code"),
    [
        ("same.safetensors", [], 0),
        ("same.safetensors", ["--atol", 0, "--rtol", 0, "--min-cosine", 1], 0),
        ("halved.safetensors", [], 0),
        ("halved.safetensors", ["--rtol", 0.49], 1),
        ("halved.safetensors", ["--rtol", 0.51], 0),
        ("halved.safetensors", ["--min-cosine", 0.999], 0),
        ("zero.npz", [], 1),
        ("zero.npz", ["--atol", 1e9], 1),
        ("absent.npz", [], 2),
        ("same.safetensors", ["--atol", "nan"], 2),
        ("same.safetensors", ["--rtol", -1], 2),
        ("same.safetensors", ["--min-cosine", 2], 2),
    ],
)
def test_exit_codes(files, capsys, actual, options, code):
    assert rx(capsys, files / actual, files / "reference.npz", *options)[0] == code


def test_nothing_to_compare_is_no_pass(files, capsys):
    assert rx(capsys, files / "nothing.npz", files / "nothing.npz")[0] == 3


def test_a_blind_tolerance_is_warned_of_and_still_decides(files, capsys):
    code, out, err = rx(
        capsys, files / "halved.safetensors", files / "reference.npz", "--atol", 1, "--rtol", 0.01
    )
    assert code == 0
    assert "warning: a: this tolerance cannot see a pure scale error of 1e+05 %" in err
    assert [line.split()[0] for line in out.splitlines()] == ["tensor", "a", "b", "pooled"]


def test_json(files, capsys):
    code, out, _ = rx(
        capsys, files / "zero.npz", files / "reference.npz", "--rtol", 0.1, "--format", "json"
    )
    answer = json.loads(out, parse_constant=lambda text: pytest.fail(text))
    assert code == 1
    assert answer["schema"] == "urn:rx:schema:parity:1"
    assert answer["status"] == "failed"
    by_name = {row["tensor"]: row for row in answer["tensors"]}
    assert by_name["a"]["status"] == "failed"
    assert "not exercised" in by_name["a"]["reason"]
    assert "max_abs_error" not in by_name["a"]
    assert by_name["b"]["max_abs_error"] == 0.0
    assert by_name["b"]["accepted"] is True
    assert answer["pooled"]["accepted"] is False


@pytest.mark.parametrize("options", [[], ["--rtol", 0.1], ["--min-cosine", 0.9]])
@pytest.mark.parametrize("name", ["same.safetensors", "zero.npz", "nothing.npz"])
def test_the_answer_is_what_its_schema_says(files, capsys, name, options):
    _, out, _ = rx(capsys, files / name, files / "reference.npz", *options, "--format", "json")
    assert list(validator("parity").iter_errors(json.loads(out))) == []


def test_a_cosine_alone_sees_no_scale(files, capsys):
    code, out, err = rx(
        capsys, files / "halved.safetensors", files / "reference.npz",
        "--min-cosine", 0.9, "--format", "json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["pooled"]["blind_scale_error"] is None
    assert "a pure scale error of any" in err


def test_help_needs_no_numpy():
    code = (
        "import sys; from rx_tools.cli import parity; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'scipy', 'tinker')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
