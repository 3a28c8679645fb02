"""`rx validate`: kinds, folders, pairs, updates, exit codes."""

import json
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from rx_tools.checks.shape import judge_shape
from rx_tools.cli.app import build

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests/fixtures"
SPEC, RECORD = FIXTURES / "exp_9574bbb76e.spec.json", FIXTURES / "exp_9574bbb76e.run.json"
GOLDEN = json.loads((FIXTURES / "exp_9574bbb76e.validation.json").read_text())


@dataclass
class Done:
    returncode: int
    stdout: str


def rx(*arguments):
    """The command in this process: what it prints and its exit code."""
    words = ["validate", *map(str, arguments)]
    with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit) as left:
        build(words)(words)
    return Done(left.value.code, out.getvalue())


def report(*arguments):
    done = rx(*arguments, "--format", "json")
    document = json.loads(done.stdout)
    assert document["summary"]["exit_code"] == done.returncode
    assert document["schema"] == "urn:rx:schema:validation-report:1"
    return document


def write(folder, **documents):
    for name, value in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(value))


def codes(document):
    return [finding["code"] for file in document["files"] for finding in file["findings"]]


def test_the_servers_six_answers_come_out_equal():
    document = report(SPEC, RECORD)
    assert {name: document["validation"][name] for name in GOLDEN} == GOLDEN
    assert set(document["validation"]) - set(GOLDEN) == {
        "activation_validation",
        "loss_eval_validation",
        "evidence_validation",
        "record_validation",
    }
    assert document["summary"]["exit_code"] == 1


def test_every_finding_has_its_line_and_column():
    lines = RECORD.read_text().split("\n")
    (file,) = [f for f in report(SPEC, RECORD)["files"] if f["kind"] == "record"]
    (wrong_id,) = [f for f in file["findings"] if f["code"] == "RX214"]
    assert lines[wrong_id["line"] - 1][wrong_id["column"] - 1 :] == "{"
    assert "fd0cc0dfe17a" in lines[wrong_id["line"] - 1]


@pytest.mark.parametrize(("name", "code"), [("exp_9574bbb76e", 0), ("exp_71911f0fb9", 3)])
def test_saved_specs(name, code):
    done = rx(FIXTURES / f"{name}.spec.json")
    assert done.returncode == code
    assert done.stdout.startswith("passed" if code == 0 else "unverified")


def test_kinds_are_detected(tmp_path):
    preflight = {"correctness_preflight": {"required": False, "paths": []}}
    write(tmp_path, a={"status": "running"}, b={"arms": [{"name": "x"}], "base_model": "m"})
    write(tmp_path, c=preflight, d={"weather": "fine"}, e=[1])
    kinds = [report(tmp_path / f"{name}.json")["files"][0]["kind"] for name in "abcde"]
    assert kinds == ["record", "spec", "preflight", "unknown", "unknown"]


def test_nothing_evaluated_is_never_a_pass(tmp_path):
    (tmp_path / "empty").mkdir()
    write(tmp_path, weather={"weather": "fine"})
    for argument in (tmp_path / "empty", f"{tmp_path}/*.jsonx", tmp_path / "weather.json"):
        done = rx(argument)
        assert (done.returncode, "nothing was evaluated" in done.stdout) == (3, True)


def test_folders_and_patterns_and_the_worst_code(tmp_path):
    (tmp_path / "in" / ".hidden").mkdir(parents=True)
    write(tmp_path / "in", good=json.loads(SPEC.read_text()), other={"weather": 1})
    write(tmp_path / "in" / ".hidden", bad={"status": 3, "metrics": 1})
    assert rx(tmp_path / "in").returncode == 0
    assert len(report(f"{tmp_path}/i*")["files"]) == 1
    write(tmp_path / "in", open={"status": "succeeded"})
    assert rx(tmp_path / "in").returncode == 1
    assert rx(tmp_path / "in", tmp_path / "absent.json").returncode == 2


def test_a_name_with_pattern_characters_is_a_name(tmp_path):
    write(tmp_path, **{"spec[1]": json.loads(SPEC.read_text())})
    assert rx(tmp_path / "spec[1].json").returncode == 0


def test_a_missing_file_does_not_hide_the_others(tmp_path):
    document = report(SPEC, tmp_path / "absent.json", tmp_path)
    assert document["summary"]["exit_code"] == 2
    assert [file["kind"] for file in document["files"]] == ["spec", "unknown"]
    assert codes(document)[-1] == "RX007"


def test_updates_of_one_run_are_compared(tmp_path):
    first = {"status": "running", "metrics": {"base": 2.4}, "completed_arms": ["a"]}
    second = {**first, "metrics": {"base": 2.5}, "completed_arms": []}
    write(tmp_path, **{"record-0001": first, "record-0002": second, "record-0010": second})
    document = report(tmp_path)
    assert [file["path"][-16:] for file in document["files"]] == [
        "record-0001.json",
        "record-0002.json",
        "record-0010.json",
    ]
    by_file = [[f["code"] for f in file["findings"]] for file in document["files"]]
    assert by_file == [[], ["RX220", "RX222"], []]
    write(tmp_path / "..", x=first, y=second)
    unnumbered = (tmp_path.parent / "x.json", tmp_path.parent / "y.json")
    assert "RX220" not in codes(report(*unnumbered))
    assert "RX220" in codes(report(*unnumbered, "--updates"))


def test_a_spec_and_the_updates_of_a_run_are_a_pair(tmp_path):
    record = json.loads(RECORD.read_text())
    write(tmp_path, **{"record-0001": {"status": "running"}, "record-0002": record})
    document = report(SPEC, tmp_path)
    assert {name: document["validation"][name] for name in GOLDEN} == GOLDEN


def test_evidence_is_read_from_a_folder(tmp_path):
    record = json.loads(RECORD.read_text())
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/note.txt").write_text("kept")
    record["evidence"]["files"].append(
        {"name": "note.txt", "kind": "script", "source_url": "https://x.example/attachments/1"}
    )
    write(tmp_path, record=record)

    def answer(*options):
        document = report(SPEC, tmp_path / "record.json", *options)
        return document["validation"]["evidence_validation"]["issues"]

    without, kept = answer(), answer("--evidence", tmp_path / "kept")
    assert any("note.txt" in issue for issue in without)
    assert not any("note.txt" in issue for issue in kept)
    assert rx(SPEC, RECORD, "--evidence", tmp_path / "absent").returncode == 2


def test_explanations_are_printed_once_per_code():
    text = rx(RECORD, "--explain").stdout
    assert text.count("RX011: a member is not one that the contract names") == 1


def test_several_specs_are_no_pair():
    assert "validation" not in report(SPEC, RECORD, FIXTURES / "exp_71911f0fb9.spec.json")


def test_validating_imports_no_heavy_module():
    script = (
        "import sys; from rx_tools.cli.app import build\n"
        f"sys.argv = ['rx', 'validate', {str(SPEC)!r}, {str(RECORD)!r}]\n"
        "try: build(sys.argv[1:])()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'tinker', 'torch', 'datasets'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_printed_report_is_what_its_schema_says():
    document = report(SPEC, RECORD)
    assert judge_shape(document, "validation-report", "report") == ()


def test_private_files_of_a_run_directory_are_left_alone(tmp_path):
    (tmp_path / "work").mkdir()
    write(tmp_path, run={"schema": "urn:rx:schema:run:1"})
    write(tmp_path / "work", state={"base_model": "m", "arms": [], "steps": "x"})
    assert [file["kind"] for file in report(tmp_path)["files"]] == ["run"]
