"""Bundles whose digests all fit, because the forger made them fit: what they say is wrong.

Whoever rewrites everything without contradiction is caught by the root digest alone.
"""

import json

import pytest

from rx_tools.errors import ExitCode
from rx_tools.evidence.budget import MIB
from rx_tools.evidence.canonical import document
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import verify
from tests.evidence.forge import TRUE, Forge, sha
from tests.evidence.test_reject import ROOTS, refused

ARM = "treatment_lr3e-4_seed0"
OTHER = "baseline_lr1e-4_seed0"
PREDICTIONS = f"predictions-{ARM}.jsonl"


def described(change):
    """A bundle.json that lies."""

    def edit(data):
        body = json.loads(data)
        change(body)
        return json.dumps(body).encode()

    return unread("bundle.json", edit)


def unread(path, change):
    """A document changed after the description was made, so that nobody has read it yet."""

    def vector(forge):
        forge.seal()
        forge.files[path] = change(forge.files[path])
        forge.remake_manifest()

    return vector


def files(change):
    """Files changed, the seals made to fit; record and ledger are left as they are."""

    def vector(forge):
        change(forge)
        forge.seal()

    return vector


def story(change):
    """Record or ledger changed, and everything made to fit."""

    def vector(forge):
        change(forge)
        forge.reforge()

    return vector


def entry(forge, name=ARM):
    arms = forge.record["initialization_provenance"]["arms"]
    return next(arm for arm in arms if arm["name"] == name)


def every(forge):
    return forge.record["initialization_provenance"]["arms"]


def set_in(*path, value):
    def change(forge):
        target = forge.record
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return story(change)


def replaced(path, old, new):
    def change(forge):
        assert old in forge.files[path]
        forge.files[path] = forge.files[path].replace(old, new)

    return change


def rows(name, change):
    def vector(forge):
        found = forge.rows(name)
        change(found)
        forge.put_rows(name, found)

    return story(vector)


def to_the_end(event, **data):
    """A line comes too late."""

    def change(forge):
        forge.move(forge.at(event, **data), len(forge.lines) - 2)

    return story(change)


def told(forge, event, **data):
    """Other words in the first line of an event, of the arm or the gate that `data` names."""
    which = {key: value for key, value in data.items() if key in ("arm", "gate")}
    forge.lines[forge.at(event, **which)]["data"].update(data)


def dropped(event, number=0, **data):
    def change(forge):
        forge.drop(forge.at(event, number, **data))

    return story(change)


def twice(event, number=0, **data):
    def change(forge):
        index = forge.at(event, number, **data)
        forge.lines.insert(index, json.loads(json.dumps(forge.lines[index])))

    return story(change)


def late_evidence(forge):
    index = next(
        i for i, line in enumerate(forge.lines) if "preflight-restoration.json" in line["files"]
    )
    forge.move(index, len(forge.lines) - 2)


def no_optimizer_check(forge):
    entry(forge)["optimizer_checks"][0]["evidence_ref"] = "scored-observations.jsonl"
    forge.drop(*forge.all("optimizer_checked", arm=ARM))


def claimed_restore(forge):
    entry(forge)["restore_count"] = 1


def other_run(forge):
    for line in forge.lines[:10]:
        line["run"] = "another-run"


def backwards(forge):
    forge.lines[20]["time"] = "2020-01-01T00:00:00.000000Z"


def lost_figure(forge):
    arms = forge.record["metrics"]["arms"]
    del arms[ARM]["n_tokens"]


def late_deviation(forge):
    forge.move(forge.at("deviations_declared"), len(forge.lines) - 2)


def new_deviation(forge):
    forge.record["deviations"].append(
        {"field": "steps", "original": 12, "effective": 6, "reason": "time"}
    )


def another_evaluator(forge):
    evaluators = forge.record["evaluation"]["evaluators"]
    (provenance,) = evaluators.values()
    provenance["parser"] += " "


def adapter_mismatch(forge):
    entry(forge)["initialization"]["adapter_sha256"] = "0" * 64


def too_large(forge):
    forge.files["evidence/large.bin"] = b"\0" * (10 * MIB + 1)


def too_many(forge):
    for number in range(64):
        forge.files[f"evidence/n{number}.txt"] = b""


def clearance(change):
    """The clearance changed, and its digest in the ledger made to fit."""

    def vector(forge):
        body = json.loads(forge.files["clearance-1.json"])
        change(body)
        forge.files["clearance-1.json"] = document(body)
        told(forge, "clearance_issued", sha256=sha(forge.files["clearance-1.json"]))

    return story(vector)


def repeated(name, change):
    """A document of the evidence changed."""

    def vector(forge):
        body = json.loads(forge.files[f"evidence/{name}"])
        change(body)
        forge.files[f"evidence/{name}"] = document(body)

    return story(vector)


def secret(forge):
    forge.files["evidence/executed-command.sh"] += b"export TINKER_API_KEY=" + b"correct-horse\n"


def plan_of_another_spec(forge):
    forge.files["plan.json"] = forge.files["plan.json"].replace(
        json.loads(forge.files["plan.json"])["spec_sha256"].encode(), b"0" * 64
    )


FORGERIES = {
    "a lying size": (
        described(lambda b: b["files"][0].update(size=1)),
        "bundle.json: describes clearance-1.json otherwise",
    ),
    "a lying kind": (
        described(lambda b: b["files"][1].update(kind="script")),
        "bundle.json: describes evidence/activation-after-run.json otherwise",
    ),
    "a described file that is not there": (
        described(lambda b: b["files"].append({"name": "x"})),
        "bundle.json: describes files that are not there",
    ),
    "another run in the description": (
        described(lambda b: b.update(run_id="x")),
        "bundle.json: run_id is stated as 'x'",
    ),
    "another head in the description": (
        described(lambda b: b["ledger_head"].update(count=1)),
        "bundle.json: ledger_head is stated",
    ),
    "an unknown member of the description": (
        described(lambda b: b.update(verified=True)),
        "bundle.json: verified is stated as True",
    ),
    "an edited evidence file": (
        files(replaced(f"evidence/{PREDICTIONS}", b'"n_tokens":', b'"n_tokens":1')),
        f"evidence/{PREDICTIONS}: SHA-256 is stated as",
    ),
    "a removed evidence file": (
        files(lambda f: f.files.pop(f"evidence/{PREDICTIONS}")),
        f"evidence/{PREDICTIONS}: is listed by the record, but missing",
    ),
    "an announced file that is gone": (
        files(lambda f: f.files.pop("original.spec.json")),
        "original.spec.json: ledger line 1 announced it",
    ),
    "an edited spec": (
        files(replaced("spec.json", b"0.02", b"0.01")),
        "spec.json: ledger line 1 announced another SHA-256",
    ),
    "an edited clearance": (
        files(replaced("clearance-1.json", b'"number": 1', b'"number": 2')),
        "clearance-1.json: ledger line",
    ),
    "an edited plan": (
        files(replaced("plan.json", b'"band"', b'"margin"')),
        "plan.json: ledger line 2 announced another SHA-256",
    ),
    "a rehearsal that calls itself real": (
        files(replaced("run.json", b'"rehearsal": true', b'"rehearsal": false')),
        "run.json: rehearsal is stated as False",
    ),
    "another record than the newest update": (
        files(replaced("record.json", b"succeeded", b"failed")),
        "record.json: is not the newest update",
    ),
    "an update left out": (
        files(lambda f: f.files.pop("updates/record-0003.json")),
        "updates: the updates are numbered [1, 2, 4",
    ),
    "the newest update left out": (
        files(lambda f: f.files.pop(f.last_update)),
        "record.json: is not the newest update",
    ),
    "a record with a doubled key": (
        unread("run.json", lambda data: b'{"run_id": "a", "run_id": "b"}'),
        "duplicate key",
    ),
    "a NaN": (
        files(replaced("plan.json", b'"steps": 12', b'"steps": NaN')),
        "no finite number",
    ),
    "a spec that breaks its schema": (
        files(replaced("spec.json", b'"steps": 12', b'"steps": "12"')),
        "spec.json: 1 errors against its schema",
    ),
    "another run's ledger": (
        files(replaced("run.json", b'"run_id": "small-868a4000"', b'"run_id": "small-ffffffff"')),
        "line of another run",
    ),
    "an edited ledger line": (
        files(replaced("ledger.jsonl", b'"train_nll":7', b'"train_nll":6')),
        "chain broken",
    ),
    "lines of another run": (story(other_run), "line of another run"),
    "a clock that ran backwards": (story(backwards), "clock ran backwards"),
    "a run that was never created": (dropped("run_created"), "the ledger never created the run"),
    "a plan for another spec": (
        story(plan_of_another_spec),
        "plan.json: the digest of its spec is stated as '000",
    ),
    "a plan frozen too late": (
        to_the_end("plan_frozen"),
        "plan.json: was not in the ledger before the first update",
    ),
    "an evaluator frozen too late": (
        to_the_end("evaluator_frozen"),
        "scoring began before an evaluator was frozen",
    ),
    "an evaluator that was never frozen": (
        dropped("evaluator_frozen"),
        "was never frozen in the ledger",
    ),
    "gates judged too late": (
        story(lambda f: [f.move(i, len(f.lines) - 2) for i in f.all("gate_judged")[::-1]]),
        "no gate was judged before the first update",
    ),
    "an arm without clearance": (
        dropped("clearance_spent", arm=ARM),
        f"{ARM}: started without having spent a clearance",
    ),
    "a clearance that breaks its schema": (
        clearance(lambda c: c.update(accepted_unverified="none")),
        "clearance-1.json: 1 errors against its schema, first $.accepted_unverified",
    ),
    "a clearance with a number of its own": (
        clearance(lambda c: c.update(number=2)),
        "clearance-1.json: number is stated as 2, not 1",
    ),
    "a clearance that adds an arm": (
        clearance(lambda c: c["arms"].append("another")),
        "clearance-1.json: arms is stated as [",
    ),
    "a clearance of another plan": (
        clearance(lambda c: c["binding"].update(plan_sha256="0" * 64)),
        "clearance-1.json binding: plan_sha256 is stated as '000",
    ),
    "a clearance of a gate that was judged otherwise": (
        clearance(lambda c: c["gates"].update(correctness_preflight="passed")),
        "clearance-1.json gates: correctness_preflight is stated as 'passed', not 'not_applicable'",
    ),
    "a clearance from other evidence": (
        clearance(lambda c: c["binding"]["evidence"].update({"preflight-service.json": "0" * 64})),
        "clearance-1.json: binds a preflight-service.json that is not the one in the evidence",
    ),
    "a clearance that binds nothing": (
        clearance(lambda c: c["binding"].update(evidence={})),
        "clearance-1.json: does not bind preflight-service.json, which was measured for it",
    ),
    "a clearance that came too late": (
        to_the_end("clearance_issued"),
        "started without having spent a clearance",
    ),
    "an adapter hash that nobody measured": (
        story(lambda f: [e["initialization"].update(adapter_sha256="a" * 64) for e in every(f)]),
        "initialization_provenance: initialization of ",
    ),
    "an initial output that nobody measured": (
        story(lambda f: [e["initial_output"].update(output_sha256="b" * 64) for e in every(f)]),
        "initialization_provenance: initial_output of ",
    ),
    "an optimizer setting that nobody saw": (
        story(lambda f: every(f)[0]["optimizer_checks"][0]["actual_config"].update(nesterov=True)),
        "initialization_provenance: optimizer_checks[0] of ",
    ),
    "a training time that nobody measured": (
        set_in("feasibility", "measurements", "training", "seconds", value=0.001),
        "feasibility: measurements is not what evidence/preflight-feasibility.json holds",
    ),
    "an activation that nobody measured": (
        set_in("activation_calibration", "values", "train_nll_drop_step0_to_step10", value=1.25),
        "activation_calibration: values is not what evidence/preflight-activation.json holds",
    ),
    "a base score that is too good": (
        set_in("evaluation", "scores", 0, "value", value=1.0),
        "score of base: is 1.0, told when it was scored was",
    ),
    "a clearance of another run": (
        story(lambda f: told(f, "clearance_spent", clearance=7, arm=ARM)),
        f"{ARM}: spent clearance 7, which nobody had issued",
    ),
    "a clearance for other arms": (
        story(lambda f: told(f, "clearance_issued", arms=[OTHER])),
        f"{ARM}: spent clearance 1, which does not name it",
    ),
    "a clearance from a closed gate": (
        story(lambda f: told(f, "gate_judged", gate="activation_gate", status="failed")),
        "clearance 1: was issued although activation_gate was 'failed'",
    ),
    "a clearance from an unverified gate that nobody accepted": (
        story(lambda f: told(f, "gate_judged", gate="feasibility", status="unknown")),
        "clearance 1: was issued although feasibility was 'unknown'",
    ),
    "a gate that nobody judged": (
        dropped("gate_judged", gate="restoration_preflight"),
        "clearance 1: was issued before restoration_preflight was judged",
    ),
    "an arm that nobody scored": (
        dropped("arm_scored", arm=ARM),
        f"loss of {ARM}: the ledger never scored this arm",
    ),
    "a score of a list of arms": (
        story(lambda f: f.lines[f.at("arm_scored", arm=ARM)]["data"].update(arm=[ARM])),
        f"loss of {ARM}: the ledger never scored this arm",
    ),
    "a score told otherwise": (
        story(lambda f: told(f, "arm_scored", arm=ARM, loss_eval={"value": 1.0})),
        f"loss of {ARM}: is not the one of its scoring in the ledger",
    ),
    "a reason told otherwise": (
        story(lambda f: told(f, "decision_made", outcome_reason="tie")),
        "the reason is stated as 'insufficient_evidence', decided was 'tie'",
    ),
    "a clearance spent twice": (twice("clearance_spent", arm=ARM), "spent one clearance twice"),
    "a missing update": (
        dropped("update_acknowledged", arm=ARM, step=5),
        "step 6 where 5 was due",
    ),
    "a doubled update": (
        twice("update_acknowledged", arm=ARM, step=5),
        "step 5 where 6 was due",
    ),
    "two exchanged updates": (
        story(
            lambda f: f.move(
                f.at("update_acknowledged", arm=ARM, step=5),
                f.at("update_acknowledged", arm=ARM, step=7),
            )
        ),
        "step 6 where 5 was due",
    ),
    "an update before the start": (
        story(
            lambda f: f.move(
                f.at("update_acknowledged", arm=ARM, step=0), f.at("arm_started", arm=ARM)
            )
        ),
        "an update before the arm was started",
    ),
    "an unfinished arm": (
        dropped("arm_finished", arm=ARM),
        f"{ARM}: is completed in the record, but the ledger never finished it",
    ),
    "an arm scored before it was finished": (
        story(
            lambda f: f.move(
                f.at("arm_scored", arm=ARM), f.at("update_acknowledged", arm=ARM, step=9)
            )
        ),
        "was scored before it was finished",
    ),
    "a restore that never happened": (
        story(claimed_restore),
        "restore_count is stated as 1, derived is 0",
    ),
    "a restore that is kept quiet": (
        story(
            lambda f: f.insert(
                f.at("update_acknowledged", arm=ARM, step=4),
                "arm_restored",
                arm=ARM,
                restore=1,
                uri="tinker://x/weights/y",
                step=4,
                discarded=0,
            )
        ),
        "restore_count is stated as 0, derived is 1",
    ),
    "initialization evidence that came later": (
        story(late_evidence),
        "initialization.before_first_update is stated as True, derived is False",
    ),
    "an optimizer that nobody looked at": (
        story(no_optimizer_check),
        "optimizer check 0: before_next_update is stated as True, derived is False",
    ),
    "initializations that differ": (
        story(adapter_mismatch),
        "gate restoration_preflight: passed in",
    ),
    "a deviation that nobody declared": (
        story(new_deviation),
        "deviation of steps: not declared before the first update",
    ),
    "a deviation declared too late": (story(late_deviation), "not declared before the first"),
    "a checkpoint that nobody saved": (
        set_in("evidence", "checkpoints", 0, "uri", value="tinker://x/weights/y"),
        "the ledger saw nobody save tinker://x/weights/y",
    ),
    "a checkpoint of another step": (
        set_in("evidence", "checkpoints", 0, "step", value=11),
        "is stated as 11, derived is 12",
    ),
    "another evaluator under the same id": (
        story(another_evaluator),
        "the id of its provenance is stated as",
    ),
    "a loss that is too good": (
        set_in("loss_eval", "arms", ARM, "nll_sum", value=1.0),
        f"loss of {ARM}: nll_sum is stated as 1.0",
    ),
    "a loss over fewer items": (
        set_in("loss_eval", "arms", ARM, "n_examples", value=23),
        f"loss of {ARM}: n_examples is stated as 23",
    ),
    "a prediction that is too good": (
        rows(PREDICTIONS, lambda found: found[0]["prediction"].update(nll_sum=0.5)),
        f"loss of {ARM}: value is stated as",
    ),
    "a prediction left out": (
        rows(PREDICTIONS, lambda found: found.pop()),
        f"loss of {ARM}:",
    ),
    "a prediction twice": (
        rows(PREDICTIONS, lambda found: found.append(found[0])),
        "twice",
    ),
    "a prediction of another arm": (
        rows(PREDICTIONS, lambda found: found[0].update(arm=OTHER)),
        "twice",
    ),
    "a score that is too good": (
        set_in("evaluation", "scores", 1, "value", value=1.0),
        "score of baseline: stated 1.0",
    ),
    "a verdict that the rows do not carry": (
        story(lambda f: f.record.update(verdict="supported", outcome_reason="supported")),
        "gate decision_rule: failed",
    ),
    "a verdict that the run did not reach": (
        set_in("verdict", value="refuted"),
        "the record's verdict is stated as 'refuted', derived is 'inconclusive'",
    ),
    "steps that were not executed": (
        set_in("activation_calibration", "values", "executed_steps", value=13),
        "executed_steps: stated 13, executed [12]",
    ),
    "batches said to match that do not": (
        story(
            lambda f: (
                f.record["activation_calibration"]["values"].update(
                    batch_hash_match_across_arms=1.0
                ),
                f.lines[f.at("update_acknowledged", arm=ARM, step=3)]["data"].update(
                    batch_sha256="0" * 64
                ),
            )
        ),
        "batch_hash_match_across_arms: stated 1.0",
    ),
    "a figure that vanished": (
        story(lost_figure),
        "the figure metrics.arms.",
    ),
    "an effect that is too large": (
        set_in("metrics", "D_mean", value=0.5),
        "record.json metrics: D_mean is stated as 0.5, derived is 0.019",
    ),
    "an interval that is too narrow": (
        set_in("metrics", "D_ci_low", value=0.0194),
        "record.json metrics: D_ci_low is stated as 0.0194, derived is 0.018",
    ),
    "an effect of a seed that its rows do not have": (
        set_in("metrics", "D_seed1", value=0.5),
        "record.json metrics: D_seed1 is stated as 0.5, derived is 0.019",
    ),
    "a base loss that is too high": (
        set_in("metrics", "base_token_mean_nll", value=9.0),
        "record.json metrics: base_token_mean_nll is stated as 9.0, derived is 7.657",
    ),
    "a figure of an arm that is too good": (
        set_in("metrics", "arms", ARM, "token_mean_nll", value=1.0),
        f"metrics.arms of {ARM}: token_mean_nll is stated as 1.0, derived is 7.628",
    ),
    "evidence of a loss that is too good": (
        set_in("evidence", "per_arm_metrics", ARM, "token_mean_nll", value=1.0),
        f"evidence.per_arm_metrics of {ARM}: token_mean_nll is stated as 1.0, derived is 7.628",
    ),
    "a training loss that the ledger does not have": (
        set_in("evidence", "per_arm_metrics", ARM, "train_nll_last", value=1.0),
        f"evidence.per_arm_metrics of {ARM}: train_nll_last is stated as 1.0, derived is 7.62",
    ),
    "more steps than were finished": (
        set_in("evidence", "per_arm_metrics", ARM, "steps", value=120),
        f"evidence.per_arm_metrics of {ARM}: steps is stated as 120, derived is 12",
    ),
    "a summary with another effect": (
        set_in(
            "summary",
            value="4 arms of rx/tiny-qwen3 on rx/built-in-chats ran through rx and were scored on "
            "24 held-out rows. The effect of primary is 0.5 with interval [0.4, 0.6].",
        ),
        "record.json summary: states the numbers ['4', '24', '0.5', '0.4', '0.6']",
    ),
    "another reading than the frozen one": (
        repeated("effective-config.json", lambda c: c["plan"]["readings"].update(primary="margin")),
        "evidence/effective-config.json: does not repeat plan.json",
    ),
    "a metric that the ledger does not have": (
        rows(f"metrics-{ARM}.jsonl", lambda found: found[3].update(train_nll=1.0)),
        f"metrics-{ARM}.jsonl: its rows are not the updates of {ARM} in ledger.jsonl",
    ),
    "a metric left out": (
        rows(f"metrics-{ARM}.jsonl", lambda found: found.pop()),
        f"metrics-{ARM}.jsonl: its rows are not the updates of {ARM} in ledger.jsonl",
    ),
    "an item less than the evaluator has": (
        rows("items-confirmation.jsonl", lambda found: found.pop()),
        "items-confirmation.jsonl: its items are not those of the frozen evaluator",
    ),
    "steps measured again that were not executed": (
        repeated("activation-after-run.json", lambda c: c["executed_steps"].update({ARM: 13})),
        "activation-after-run.json: executed_steps is not what ledger.jsonl holds",
    ),
    "a difference that nobody judged": (
        repeated("activation-after-run.json", lambda c: c["differences"].append("step 3")),
        "activation-after-run.json: states differences, but the activation gate did not fail",
    ),
    "a base score that its rows do not have": (
        story(
            lambda f: [
                told(f, "arm_scored", arm="base", value=1.0),
                f.record["evaluation"]["scores"][0].update(value=1.0),
            ]
        ),
        "scoring of base: value in the ledger is not that of the rows",
    ),
    "a rate measured again that was not executed": (
        repeated(
            "activation-after-run.json", lambda c: c["executed_learning_rate"].update({ARM: 1})
        ),
        "activation-after-run.json: executed_learning_rate is not what ledger.jsonl holds",
    ),
    "a score that changed its role": (
        set_in("evaluation", "scores", 1, "arm", value="treatment"),
        "record.json evaluation: scores are not those of plan and ledger",
    ),
    "a score of another metric": (
        set_in("evaluation", "scores", 1, "metric", value="accuracy"),
        "record.json evaluation: scores are not those of plan and ledger",
    ),
    "a comparison that nobody planned": (
        set_in("evaluation", "comparisons", 0, "arms", value=["treatment", "base"]),
        "record.json evaluation: comparisons are not those of plan and ledger",
    ),
    "a hypothesis that was not the original one": (
        set_in("original_hypothesis_tested", value=True),
        "original_hypothesis_tested: stated True, declared in the ledger was False",
    ),
    "another test than the declared one": (
        set_in("tested_instead", value="The same plan on the real model."),
        "tested_instead: stated 'The same plan on the real model.', declared in the ledger was",
    ),
    "a file above the cap": (story(too_large), "caps: evidence/large.bin has 10.01 MiB"),
    "more files than the cap": (story(too_many), "caps: 0 + 84 evidence files are more than 64"),
    "a credential": (story(secret), "executed-command.sh: holds what looks like environment-line"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_a_forged_bundle_says_is_contradicted(tmp_path, forgery):
    change, reason = FORGERIES[forgery]
    forge = Forge()
    change(forge)
    refused(forge.write(tmp_path / "bundle"), reason)


@pytest.mark.parametrize("place", [("metrics",), ("evidence", "per_arm_metrics", ARM)])
def test_a_figure_that_nothing_derives_is_not_verified(tmp_path, place):
    forge = Forge()
    target = forge.record
    for step in place:
        target = target[step]
    target["accuracy"] = 0.99
    found = verify(forge.reforge().write(tmp_path / "bundle"))
    assert found.exit_code is ExitCode.UNVERIFIED
    assert "nothing in the bundle derives accuracy" in [c.message for c in found.of(State.OPEN)]


def test_a_reworded_summary_is_prose(tmp_path):
    forge = Forge()
    forge.record["summary"] = forge.record["summary"].replace("ran through rx", "were trained")
    assert verify(forge.reforge().write(tmp_path / "bundle")).exit_code is ExitCode.OK


def test_the_untouched_forge_is_the_true_bundle(tmp_path):
    forge = Forge().seal()
    found = verify(forge.write(tmp_path / "bundle"), root=ROOTS["rehearsal-0.1"])
    assert found.exit_code is ExitCode.OK


def test_a_forgery_without_contradiction_is_caught_by_the_root_digest_only(tmp_path):
    """All but the root can be made anew: this is what an anchor outside the bundle is for."""
    forge = Forge()
    for line in forge.lines:
        line["run"] = line["run"].replace("868a4000", "00000000")
    for path in ("run.json", "clearance-1.json"):
        forge.files[path] = forge.files[path].replace(b"868a4000", b"00000000")
    told(forge, "clearance_issued", sha256=sha(forge.files["clearance-1.json"]))
    forge.reforge()
    place = forge.write(tmp_path / "bundle")
    refused(place, "root digest", root=ROOTS["rehearsal-0.1"])
    assert verify(place).of(State.CONTRADICTED) == ()


def selection(forge):
    return forge.record["decision"]["selection"]


SEARCHED = "predictions-lrsearch_adamw_1e-4_s0.jsonl"

SELECTIONS = {
    "a selection frozen too late": (
        lambda f: f.move(f.at("selection_frozen"), len(f.lines) - 3),
        "selection: a confirmation arm started before it was frozen",
    ),
    "a selection that was never frozen": (
        lambda f: f.drop(f.at("selection_frozen")),
        "selection: frozen_before_confirmation is stated as True, derived is False",
    ),
    "another rate than the selected one": (
        lambda f: selection(f)["selected"].update(dict.fromkeys(selection(f)["selected"], 0.5)),
        "selection: the selected rates are not those of the ledger",
    ),
    "a rate that did not win its search": (
        lambda f: [
            selection(f)["selected"].update(baseline=0.0001),
            told(f, "selection_frozen", selected=selection(f)["selected"]),
        ],
        "selection: selected is stated as {'baseline': 0.0001, 'treatment': 0.003}, derived is",
    ),
    "a grid that was stretched afterwards": (
        lambda f: selection(f)["grids"]["baseline"].append(0.0004),
        "selection: grids is stated as {'baseline': [5e-05, 0.0001, 0.0002, 0.0004]",
    ),
    "a search on other items": (
        lambda f: f.put_rows(SEARCHED, [r for r in f.rows(SEARCHED) if "0" in r["item_id"][-4:]]),
        "selection: lrsearch_adamw_1e-4_s0 was scored on other items than the search has",
    ),
    "a search whose losses nobody scored": (
        lambda f: f.put_rows(
            SEARCHED,
            [r | {"prediction": {"n_tokens": 9, "nll_sum": 1.0}} for r in f.rows(SEARCHED)],
        ),
        "'treatment': 0.003}, derived is {'baseline': 0.0001, 'treatment': 0.003}",
    ),
    "batches that differ between paired arms": (
        lambda f: [
            f.lines[index]["data"].update(batch_sha256="0" * 64)
            for index in f.all("update_acknowledged", step=2)
            if "dimuon" in f.lines[index]["data"]["arm"]
        ],
        "batch_hash_match_across_arms: stated 1.0",
    ),
}


@pytest.mark.parametrize("forgery", SELECTIONS)
def test_what_is_said_of_the_selection_is_derived_again(tmp_path, forgery):
    change, reason = SELECTIONS[forgery]
    forge = Forge(TRUE.with_name("selection-0.1.zip"))
    change(forge)
    refused(forge.reforge().write(tmp_path / "bundle"), reason)
