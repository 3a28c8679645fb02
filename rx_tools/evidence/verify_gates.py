"""The evidence level: gates judged again, losses summed again, the decision taken again."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from math import isclose
from operator import attrgetter

import msgspec

from rx_tools.checks.kinds import Kind
from rx_tools.checks.shape import judge_shape
from rx_tools.checks.validation import judge_all
from rx_tools.evidence.claim import Claim, beyond, contradicted, incomplete, verified
from rx_tools.evidence.contents import evidence_kinds, json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import EVIDENCE, LEDGER, PLAN, RECORD, RUN, SPEC, UPDATES, in_evidence
from rx_tools.evidence.timeline import Timeline
from rx_tools.model.evidence import Evidence, EvidenceFile, inline_evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Level, Result, Status
from rx_tools.model.spec import Spec
from rx_tools.numerics.loss_eval import LossEval

KINDS = {RUN: Kind.RUN, SPEC: Kind.SPEC, PLAN: Kind.PLAN, RECORD: Kind.RECORD}
CLAIMING = ("supported", "refuted")
TOLERANCE = 1e-9
CREDENTIAL_CODE = "RX386"


def verify_shapes(files: Files) -> Iterator[Claim]:
    """Every document against its schema; what a schema does not know is no contradiction."""
    updates = {path: Kind.RECORD for path in files if path.startswith(f"{UPDATES}/")}
    for path, kind in {**KINDS, **updates}.items():
        findings = judge_shape(json_object(files, path), kind, kind)
        errors = [finding for finding in findings if finding.level is Level.ERROR]
        if errors:
            first = f"{errors[0].json_path}: {errors[0].message}"
            yield contradicted(path, f"{len(errors)} errors against its schema, first {first}")
    yield verified("schemas", f"{len(KINDS) + len(updates)} documents were judged by theirs")


def verify_gates(files: Files, record: Record, history: Timeline) -> Iterator[Claim]:
    """Each gate from spec, record and evidence; the bundle's own statements are only compared."""
    spec = Spec.of(json_object(files, SPEC))
    evidence = retained(files, record)
    told = {str(data.get("gate")): data.get("status") for data in history.data("gate_judged")}
    for gate, result in judge_all(spec, record, evidence).items():
        secrets = [r.message for r in result.reasons if r.code == CREDENTIAL_CODE]
        yield from (contradicted("secrets", message) for message in secrets)
        yield gate_claim(gate, result, record, told.get(gate.value))


def retained(files: Files, record: Record) -> Evidence:
    """The evidence of a bundle, with the kinds that the record states."""
    kinds = evidence_kinds(record)
    names = [path.partition("/")[2] for path in files if path.startswith(f"{EVIDENCE}/")]
    found = {name: evidence_file(files, in_evidence(name), kinds.get(name, "")) for name in names}
    inline = {name: file for name, file in inline_evidence(record.raw).items() if name not in found}
    return Evidence({**inline, LEDGER: evidence_file(files, LEDGER, ""), **found})


def evidence_file(files: Files, path: str, kind: str) -> EvidenceFile:
    """A file of the bundle as a judge reads it."""
    data = files[path]
    name = path.rpartition("/")[2]
    return EvidenceFile(name, kind, files.sha256(path), len(data), lambda: data)


def gate_claim(gate: Gate, result: Result, record: Record, told: object) -> Claim:
    """A gate that opens is verified; one that does not must not stand behind a verdict."""
    subject, found = f"gate {gate.value}", answer_of(result)
    if result.status.opens:
        return verified(subject, found)
    claiming = record.verdict in CLAIMING
    if result.status in (Status.UNVERIFIED, Status.UNKNOWN):
        return (incomplete if claiming else beyond)(subject, found)
    if claiming or gate is Gate.DECISION:
        return contradicted(subject, found)
    if told == Status.PASSED.value and gate is not Gate.ACTIVATION:
        return contradicted(subject, f"passed in the ledger, but {found}")
    return verified(subject, f"{found}; the record claims no verdict")


def answer_of(result: Result) -> str:
    """The status, with the first reason that decided it."""
    deciding = [r for r in result.reasons if r.level in (Level.ERROR, Level.UNVERIFIED)]
    if result.status.opens or not deciding:
        return result.status.value
    return f"{result.status.value}: {deciding[0].message}"


class Totals(msgspec.Struct, gc=False):
    """The loss of one item: nats in all, and how many tokens counted."""

    nll_sum: float
    n_tokens: int


class PredictionRow(msgspec.Struct, gc=False):
    """What a loss is summed from; other members of a row are not looked at here."""

    arm: str
    item_id: str
    prediction: Totals


def verify_losses(files: Files, record: Record) -> Iterator[Claim]:
    """The held-out losses of the record, summed again from the predicted items."""
    section = record.section("loss_eval")
    stated = as_object(section.get("arms"))
    if not stated:
        return
    rows, problems = loss_rows(files, record)
    yield from (contradicted(path, problem) for path, problem in problems.items())
    good = 0
    for arm, entry in sorted(stated.items()):
        if arm not in rows:
            yield incomplete(f"loss of {arm}", "no retained prediction is of this arm")
            continue
        fault = loss_fault(as_object(entry), rows[arm], as_text(section.get("aggregation")))
        good += not fault
        if fault:
            yield contradicted(f"loss of {arm}", fault)
    yield verified("losses", f"{good} arms summed again from their predictions")


def loss_rows(files: Files, record: Record) -> tuple[dict[str, dict[str, Totals]], dict[str, str]]:
    """Arm → item → totals, over all files of predictions; and what is wrong with a file."""
    decoder = msgspec.json.Decoder(PredictionRow)
    rows: dict[str, dict[str, Totals]] = defaultdict(dict)
    problems: dict[str, str] = {}
    for file in record.files:
        path = in_evidence(file.name or "")
        if file.kind != "predictions" or path not in files:
            continue
        try:
            found = decoder.decode_lines(files[path])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            problems[path] = f"is no file of loss predictions: {error}"
            continue
        for arm, members in groupby(found, attrgetter("arm")):
            block = list(members)
            totals = {row.item_id: row.prediction for row in block}
            if len(totals) < len(block) or rows[arm].keys() & totals.keys():
                problems[path] = f"holds an item of {arm} twice"
            rows[arm].update(totals)
    return dict(rows), problems


def loss_fault(stated: JsonObject, rows: Mapping[str, Totals], aggregation: str) -> str:
    """How a stated loss differs from the sum of its rows; empty if it does not."""
    try:
        evaluation = LossEval(aggregation)
    except ValueError as error:
        return str(error)
    evaluation.examples.extend((row.nll_sum, row.n_tokens) for row in rows.values())
    for key, value in evaluation.record().items():
        found = stated.get(key)
        if isinstance(value, float):
            same = isinstance(found, int | float) and isclose(found, value, rel_tol=TOLERANCE)
        else:
            same = found == value
        if not same:
            return f"{key} is stated as {found!r}, summed from the rows it is {value!r}"
    return ""


def verify_scores(record: Record, plan: JsonObject) -> Iterator[Claim]:
    """Each score is the loss of the arm that has its role and seed in the plan."""
    losses = as_object(record.section("loss_eval").get("arms"))
    names = {
        (as_text(arm.get("role")), arm.get("seed")): as_text(arm.get("name"))
        for arm in map(as_object, as_list(plan.get("arms")))
        if arm.get("phase") == "confirmation"
    }
    compared = 0
    for score in map(as_object, as_list(record.section("evaluation").get("scores"))):
        arm = as_text(score.get("arm"))
        loss = as_object(losses.get(names.get((arm, score.get("seed")), arm)))
        if not loss:
            continue
        compared += 1
        if score.get("value") != loss.get("value"):
            stated, derived = score.get("value"), loss.get("value")
            yield contradicted(f"score of {arm}", f"stated {stated!r}, its loss is {derived!r}")
    if compared:
        yield verified("scores", f"{compared} scores were compared with the losses")


def verify_execution(record: Record, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """Activation metrics that only a finished run can show, from the ledger."""
    values = as_object(record.section("activation_calibration").get("values"))
    done = [arm for arm in history.arms.values() if arm.finished]
    if "executed_steps" in values and done:
        steps = {arm.surviving for arm in done}
        if steps == {values["executed_steps"]}:
            yield verified("executed_steps", f"{values['executed_steps']} in every finished arm")
        else:
            stated = values["executed_steps"]
            yield contradicted("executed_steps", f"stated {stated!r}, executed {sorted(steps)}")
    stated_match = values.get("batch_hash_match_across_arms")
    match = history.batch_match(pairs_of(plan, history))
    if stated_match is None or match is None:
        return
    if stated_match == match:
        yield verified("batch_hash_match_across_arms", f"{match}")
    else:
        message = f"stated {stated_match!r}, from the ledger {match!r}"
        yield contradicted("batch_hash_match_across_arms", message)


def pairs_of(plan: JsonObject, history: Timeline) -> list[tuple[str, str]]:
    """The first finished confirmation arm of each seed with every other of that seed."""
    by_seed: dict[object, list[str]] = defaultdict(list)
    for arm in map(as_object, as_list(plan.get("arms"))):
        name = as_text(arm.get("name"))
        if arm.get("phase") == "confirmation" and history.arm(name).finished:
            by_seed[arm.get("seed")].append(name)
    return [(names[0], other) for names in by_seed.values() for other in names[1:]]
