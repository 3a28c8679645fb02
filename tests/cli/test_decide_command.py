"""`rx decide` and `rx loss-eval` as a user calls them."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import rx_tools
from rx_tools.cli.app import build
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.run_dir import create_run_dir
from rx_tools.planning.derive import derive
from rx_tools.schemas.library import schema

SPEC = Path("tests/fixtures/exp_9574bbb76e.spec.json")
RUN = Path("tests/fixtures/exp_9574bbb76e.run.json")
METRIC = json.loads(SPEC.read_text())["decision_rule"]["criteria"][0]["metric"]
EFFECTS = (0.004549, 0.003932, 0.00534)


def rows(effects=EFFECTS):
    return [
        {
            "item_id": f"test:{item}",
            "arm": role,
            "seed": seed,
            "metric": METRIC,
            "value": 2.0 + (effect if role == "baseline" else 0.0) + offset,
            "evaluator_id": "e" * 64,
        }
        for seed, effect in enumerate(effects)
        for role in ("baseline", "treatment")
        for item, offset in enumerate((-0.25, 0.25))
    ]


def jsonl(path, content):
    path.write_text("".join(json.dumps(row) + "\n" for row in content))
    return path


@pytest.fixture
def observed(tmp_path):
    return jsonl(tmp_path / "rows.jsonl", rows())


def rx(capsys, *words):
    with pytest.raises(SystemExit) as left:
        build([words[0]])([*map(str, words)])
    captured = capsys.readouterr()
    return left.value.code, captured.out, captured.err


def test_the_deciding_line_comes_first(capsys, observed):
    code, out, _ = rx(capsys, "decide", SPEC, "--observations", observed)
    assert code == 0
    first, second, *_ = out.splitlines()
    interval = "the whole interval [0.00285, 0.00636] lies within ±0.02"
    assert first == f"inconclusive (tie): {interval}"
    assert "reading conflict: the margin reading says refuted/refuted" in second
    assert "assumed, not tested: identically_distributed_seed_effects" in out


def test_supported_is_said_as_the_readme_says_it(capsys, tmp_path):
    path = jsonl(tmp_path / "rows.jsonl", rows((0.0245, 0.0254, 0.02585)))
    code, out, _ = rx(capsys, "decide", SPEC, "--observations", path, "--exit-verdict")
    assert (code, out.splitlines()[0]) == (
        0,
        "supported: the whole interval [0.0235, 0.027] lies above 0.02",
    )


@pytest.mark.parametrize(("reading", "code"), [("margin", 10), ("band", 11)])
def test_the_frozen_reading_decides_and_the_exit_code_may_say_so(
    capsys, tmp_path, observed, reading, code
):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"readings": {"primary": reading}}))
    words = ("decide", SPEC, "--observations", observed, "--plan", plan)
    assert rx(capsys, *words, "--exit-verdict")[0] == code
    assert rx(capsys, *words)[0] == 0


@pytest.mark.parametrize(
    ("document", "code", "says"),
    [
        (None, 1, "is a spec, not a plan"),
        ({"readings": ["band"]}, 1, "is no plan: it freezes no readings"),
        ({"readings": {}, "spec_sha256": "0" * 64}, 4, "was frozen for another spec"),
    ],
)
def test_a_plan_of_something_else_freezes_no_reading(
    capsys, tmp_path, observed, document, code, says
):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(document) if document else Path(SPEC).read_text())
    found, _, err = rx(capsys, "decide", SPEC, "--observations", observed, "--plan", plan)
    assert found == code
    assert says in err


def test_json_has_every_digit_and_a_schema(capsys, observed):
    code, out, _ = rx(capsys, "decide", SPEC, "--observations", observed, "--format", "json")
    body = json.loads(out)
    assert code == 0
    Draft202012Validator(schema("decision-answer")).validate(body)
    assert body["rx_version"] == rx_tools.__version__
    (criterion,) = body["criteria"]
    assert criterion["low"] == pytest.approx(0.00285372136674972071, abs=3e-15)
    assert criterion["high"] == pytest.approx(0.00636027863325027926, abs=3e-15)
    assert body["reading_conflict"] is True
    assert body["descriptive"]["primary"]["turning_margins"] == [
        criterion["low"],
        criterion["high"],
    ]


@pytest.mark.parametrize(
    ("content", "code", "name"),
    [
        ([*rows(), rows()[0]], 1, "DUPLICATE_OBSERVATION"),
        (rows()[1:], 3, "MISSING_ITEM"),
        ([], 3, "MISSING_CELL"),
        (rows((0.01, 0.01, 0.01)), 0, None),
    ],
)
def test_bad_rows_are_a_verdict_with_issues(capsys, tmp_path, content, code, name):
    path = jsonl(tmp_path / "rows.jsonl", content)
    words = ("decide", SPEC, "--observations", path, "--format", "json")
    got, out, err = rx(capsys, *words)
    body = json.loads(out)
    assert (got, body["verdict"]) == (code, "inconclusive")
    Draft202012Validator(schema("decision-answer")).validate(body)
    assert "Traceback" not in err
    assert name is None or body["issues"][0]["name"] == name


def test_the_same_total_of_bad_rows_in_both_formats(capsys, tmp_path):
    path = jsonl(tmp_path / "rows.jsonl", [*rows(), *({**row, "seed": 9} for row in rows())])
    words = ("decide", SPEC, "--observations", path)
    body = json.loads(rx(capsys, *words, "--format", "json")[1])
    assert len(body["issues"]) == 12
    assert "(+11 more)" in rx(capsys, *words)[1].splitlines()[0]


def test_a_line_number_and_a_repeated_key(capsys, tmp_path, observed):
    text = observed.read_text().replace('"seed": 1', '"seed": 1, "seed": 2', 1)
    path = tmp_path / "twice.jsonl"
    path.write_text(text)
    code, out, _ = rx(capsys, "decide", SPEC, "--observations", path)
    assert code == 1
    assert "line 5: duplicate key 'seed'" in out.splitlines()[0]


def test_a_file_of_more_than_ten_mebibytes_is_refused(capsys, tmp_path):
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as stream:
        stream.truncate(10 * 2**20 + 1)
    code, out, _ = rx(capsys, "decide", SPEC, "--observations", path)
    assert code == 1
    assert "1 more than the 10485760 allowed" in out


def test_names_cannot_write_to_the_terminal(capsys, tmp_path):
    spec = json.loads(SPEC.read_text())
    hostile = "nll\x1b[2J\nsupported: everything"
    spec["decision_rule"]["criteria"][0]["metric"] = hostile
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    observed = jsonl(tmp_path / "rows.jsonl", [{**row, "metric": hostile} for row in rows()[1:]])
    code, out, _ = rx(capsys, "decide", path, "--observations", observed)
    assert code == 3
    assert "\x1b" not in out
    assert not any(line.startswith("supported") for line in out.splitlines())


def test_a_bare_rule(capsys, tmp_path, observed):
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps(json.loads(SPEC.read_text())["decision_rule"]))
    code, out, err = rx(capsys, "decide", "--rule", rule, "--observations", observed)
    assert (code, out.split(":")[0]) == (0, "inconclusive (tie)")
    assert "not looked at without a record: completed arms" in err


def test_a_record_without_its_evidence_is_not_enough(capsys, tmp_path):
    (evaluator,) = json.loads(RUN.read_text())["evaluation"]["evaluators"]
    content = [{**row, "evaluator_id": evaluator} for row in rows()]
    observed = jsonl(tmp_path / "rows.jsonl", content)
    code, out, _ = rx(capsys, "decide", SPEC, "--observations", observed, "--record", RUN)
    assert code == 3
    assert out.startswith("inconclusive (insufficient_evidence)")


@pytest.mark.parametrize(
    "words",
    [
        ("decide", SPEC),
        ("decide", "--observations", RUN),
        ("decide", SPEC, "--rule", RUN, "--observations", RUN),
        ("decide", "--rule", RUN, "--observations", RUN, "--record", RUN),
        ("decide", SPEC, "--observations", "absent.jsonl"),
        ("decide", SPEC, "--observations", RUN, "--run-dir", "."),
        ("decide",),
        ("loss-eval", SPEC),
    ],
)
def test_what_cannot_be_meant(capsys, words):
    code, out, err = rx(capsys, *words)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1


def test_quiet_prints_nothing_and_exits_alike(capsys, observed):
    assert rx(capsys, "decide", SPEC, "--observations", observed, "--quiet") == (0, "", "")


@pytest.fixture
def run(tmp_path):
    """A finished run's directory: spec, plan, one record and its evidence."""
    spec = json.loads(SPEC.read_text())
    spec["experiment_features"] |= {"paired_training_arms": False, "heldout_loss": False}
    spec |= {"activation_gate": {"applicable": False}, "feasibility_required": False}
    spec["restoration_preflight"] = {"applicable": False}
    spec["eval"] = {"metric": "accuracy", "n_examples": 2}
    content = json.dumps(spec).encode()
    plan = derive(spec, sha256_of(content), experiment="e", answers={"readings.primary": "margin"})
    run = create_run_dir(tmp_path / "run", run_id="r", experiment="e", spec=content, plan=plan.plan)
    provenance = {
        "code_sha256": "1" * 64,
        "prompt_template": "t",
        "decoding": {"temperature": 0, "max_tokens": 0, "stop": []},
        "parser": "p",
        "items": {"ids": ["test:0", "test:1"]},
    }
    evaluator = rx_tools.evaluator_id(provenance)
    observed = [{**row, "evaluator_id": evaluator} for row in rows()]
    data = "".join(json.dumps(row) + "\n" for row in observed).encode()
    published = run.put_evidence("scored-observations.jsonl", data)
    cells = {
        (row["arm"], row["seed"]): row["value"] - 0.25 for row in observed if "1" in row["item_id"]
    }
    record = {
        "status": "succeeded",
        "completed_arms": json.loads(RUN.read_text())["completed_arms"],
        "verdict": "refuted",
        "outcome_reason": "refuted",
        "decision": {
            "version": 1,
            "observations_file": {"name": published.name, "sha256": published.sha256},
        },
        "evaluation": {
            "version": 1,
            "evaluators": {evaluator: provenance},
            "scores": [
                {
                    "arm": arm,
                    "seed": seed,
                    "metric": METRIC,
                    "value": value,
                    "evaluator_id": evaluator,
                    "predictions_ref": "p.jsonl",
                }
                for (arm, seed), value in cells.items()
            ],
            "comparisons": [{"metric": METRIC, "arms": ["baseline", "treatment"]}],
        },
    }
    return run, record


def post(run, record, number=1):
    (run.updates / f"record-{number:04d}.json").write_text(json.dumps(record))


def test_a_run_directory_needs_no_other_argument(capsys, run, monkeypatch):
    folder, record = run
    post(folder, {**record, "verdict": "supported", "outcome_reason": "supported"})
    found = rx(capsys, "decide", "--run-dir", folder.path)
    assert found[0] == 1, found
    post(folder, record, 2)
    code, out, err = rx(capsys, "decide", "--run-dir", folder.path, "--exit-verdict")
    assert (code, err) == (10, "")
    below = "the whole interval [0.00285, 0.00636] lies below 0.02"
    assert out.splitlines()[0] == f"refuted: {below}"
    assert out.splitlines()[-1] == "the record says the same: refuted/refuted"
    monkeypatch.chdir(folder.path)
    assert rx(capsys, "decide", "--quiet")[0] == 0


def test_changed_rows_are_not_what_the_record_names(capsys, run):
    folder, record = run
    post(folder, record)
    (folder.evidence / "scored-observations.jsonl").write_text("")
    code, out, _ = rx(capsys, "decide", "--run-dir", folder.path)
    assert code == 3
    assert "is not retained for this run" in out.splitlines()[0]


def test_a_run_without_rows_has_nothing_to_decide(capsys, run):
    folder, _ = run
    post(folder, {"status": "running"})
    code, out, err = rx(capsys, "decide", "--run-dir", folder.path)
    assert (code, out) == (3, "")
    assert "no observation rows yet" in err


def test_a_changed_experiment_keeps_its_own_verdict(capsys, run):
    folder, record = run
    post(folder, record | {"original_hypothesis_tested": False, "tested_instead": "another"})
    code, out, _ = rx(capsys, "decide", "--run-dir", folder.path)
    assert code == 0
    assert "for what was tested instead: refuted/refuted: the whole interval" in out


def test_scipy_stats_is_never_imported(observed):
    script = (
        "import sys; from rx_tools.cli.app import build\n"
        "try: build(['decide'])(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(sorted(name for name in ('scipy.stats', 'tinker', 'torch') if name in sys.modules))"
    )
    words = ["decide", str(SPEC), "--observations", str(observed)]
    ran = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_the_loss_gate_on_the_finished_run(capsys):
    code, out, _ = rx(capsys, "loss-eval", SPEC, RUN)
    assert (code, out.splitlines()[0]) == (3, "loss_eval: unverified")
    body = json.loads(rx(capsys, "loss-eval", SPEC, RUN, "--format", "json")[1])
    assert body["status"] == "unverified"
    Draft202012Validator(schema("gate-answer")).validate(body)


@pytest.fixture(scope="module")
def standalone(tmp_path_factory):
    path = tmp_path_factory.mktemp("standalone") / "loss_eval.py"
    with pytest.raises(SystemExit) as left:
        build(["loss-eval"])(["loss-eval", "--standalone", "-o", str(path), "--quiet"])
    assert left.value.code == 0
    spec = importlib.util.spec_from_file_location("standalone_loss_eval", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_standalone_module_needs_the_standard_library_only(standalone):
    script = f"import sys; sys.path.insert(0, {str(Path(standalone.__file__).parent)!r})\n"
    script += "import loss_eval; print(loss_eval.LossEval().record()['n_tokens'])"
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "0\n"


def test_an_existing_file_is_not_replaced(capsys, standalone):
    words = ("loss-eval", "--standalone", "-o", standalone.__file__)
    assert rx(capsys, *words)[0] == 2


examples = st.lists(
    st.lists(st.tuples(st.floats(-50, 0), st.sampled_from([0, 0.5, 1])), max_size=6), max_size=6
)


@given(st.dictionaries(st.text(max_size=4), examples, max_size=3), st.sampled_from([0, 1]))
def test_the_standalone_module_agrees_with_the_package(standalone, arms, which):
    aggregation = standalone.AGGREGATIONS[which]
    reports = []
    for kind, report in [
        (standalone.LossEval, standalone.report),
        (rx_tools.LossEval, rx_tools.loss_report),
    ]:
        evaluators = {name: kind(aggregation) for name in arms}
        for name, listed in arms.items():
            for example in listed:
                evaluators[name].add([lp for lp, _ in example], [w for _, w in example])
        reports.append(report(aggregation, evaluators))
    assert reports[0] == reports[1]
    spec = {"eval": {"metric": "NLL per token"}}
    assert standalone.check(spec, reports[0]) == rx_tools.loss_check(spec, reports[1])
    for name in ("requested_aggregation", "is_loss_metric"):
        assert getattr(standalone, name)(spec) == getattr(rx_tools, name)(spec)
