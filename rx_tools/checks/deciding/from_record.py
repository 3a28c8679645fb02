"""The inputs of a decision as a record and its evidence hold them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rx_tools.checks.deciding.cell_items import Cell
from rx_tools.checks.deciding.circumstances import Circumstances
from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.observation_rows import ObservationRows, strictly
from rx_tools.checks.deciding.rule import READINGS, FrozenRule, named
from rx_tools.checks.rows import RowError, rows_of
from rx_tools.model.evidence import EvidenceFile
from rx_tools.model.json import JsonObject, as_list, as_object, is_integer
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.spec import Spec

Files = Mapping[str, EvidenceFile]


def retained_plan(evidence: Files) -> JsonObject:
    """The frozen plan within the retained evidence; empty if there is none.

    It is a file `plan.json`, or the member `plan` of the effective configuration.
    """
    for name, file in evidence.items():
        if name == "plan.json":
            return json_of(file)
        if file.kind == "effective_config":
            plan = as_object(json_of(file).get("plan"))
            if plan:
                return plan
    return {}


def json_of(file: EvidenceFile) -> JsonObject:
    """A retained JSON object; empty for anything else."""
    try:
        return as_object(strictly(file.read()))
    except ValueError:
        return {}


def frozen_readings(spec: Spec, plan: JsonObject) -> dict[str, str]:
    """Criterion id → reading, where the plan or the criterion itself freezes one."""
    readings = {
        criterion.id: criterion.raw.get("reading")
        for criterion in (spec.decision_rule.criteria if spec.decision_rule else ())
        if criterion.id is not None
    }
    readings |= {key: value for key, value in as_object(plan.get("readings")).items() if value}
    return {name: value for name, value in readings.items() if value in READINGS}


def circumstances_of(
    spec: Spec,
    record: Record,
    evidence: Files,
    gates: Mapping[str, str],
    accepted: Sequence[str] = (),
) -> Circumstances:
    """Arms, deviations, selection and gates of a record."""
    selection = as_object(record.section("decision").get("selection"))
    adaptive = spec.decision_rule.adaptive_selection if spec.decision_rule else None
    search, confirmation = selection_items(spec, selection, evidence)
    return Circumstances(
        arms=spec.arm_names,
        completed_arms=record.completed_arms,
        original_hypothesis_tested=record.original_hypothesis_tested,
        deviations=tuple(deviation.raw for deviation in record.deviations),
        adaptive_selection=adaptive is not None or spec.features.get("adaptive_selection") is True,
        kind=adaptive.kind if adaptive else None,
        selection=selection,
        search_item_ids=search,
        confirmation_item_ids=confirmation,
        grids=as_object(selection.get("grids")),
        selected=as_object(selection.get("selected")),
        gates=gates,
        accepted_unverified=accepted,
    )


def selection_items(spec: Spec, selection: JsonObject, evidence: Files) -> tuple[object, object]:
    """The search and the confirmation items: lists in the rule, or the files it refers to."""
    adaptive = spec.decision_rule.adaptive_selection if spec.decision_rule else None
    stated = (
        (adaptive.search_item_ids, adaptive.confirmation_item_ids) if adaptive else (None, None)
    )
    refs = (selection.get("search_ref"), selection.get("confirmation_ref"))
    search, confirmation = (
        listed if isinstance(listed, list) else ids_in(evidence, ref)
        for listed, ref in zip(stated, refs, strict=True)
    )
    return search, confirmation


def ids_in(evidence: Files, ref: object) -> list[str] | None:
    """The item ids in a retained file: JSON with `ids`, a list of names, or JSONL rows."""
    file = evidence.get(ref) if isinstance(ref, str) else None
    if file is None:
        return None
    try:
        document = strictly(file.read())
    except ValueError:
        document = None
    if isinstance(document, Mapping):
        document = document.get("ids", as_object(document.get("items")).get("ids"))
    if isinstance(document, list):
        return document if all(map(named, document)) else None
    return ids_of_rows(file)


def ids_of_rows(file: EvidenceFile) -> list[str] | None:
    """The `item_id` of every JSONL row."""
    try:
        ids = [row.get("item_id") for row in rows_of(file)]
    except RowError:
        return None
    return [item for item in ids if named(item)] if ids and all(map(named, ids)) else None


def frozen_items(
    spec: Spec, record: Record, evidence: Files, scored_by: Mapping[str, str]
) -> tuple[dict[str, list[str]], tuple[Issue, ...]]:
    """The items of the evaluator that made the rows of each metric; they must be explicit.

    `scored_by` maps metrics to the evaluator that their rows name.
    """
    evaluators = as_object(record.section("evaluation").get("evaluators"))
    found: dict[str, list[str]] = {}
    issues: list[Issue] = []
    metrics = dict.fromkeys(
        c.metric for c in (spec.decision_rule.criteria if spec.decision_rule else ()) if c.metric
    )
    for metric in metrics:
        name = scored_by.get(metric) or next(iter(evaluators), "")
        if evaluators and name not in evaluators:
            text = f"The rows of {metric!r} name an evaluator that the record does not hold."
            issues.append(Issue("EVALUATOR_NOT_RECORDED", text, "$.evaluation.evaluators"))
            continue
        ids = explicit_items(as_object(as_object(evaluators.get(name)).get("items")), evidence)
        if ids is None:
            text = f"The evaluator of {metric!r} states no explicit items.ids."
            issues.append(Issue("ITEMS_NOT_EXPLICIT", text, "$.evaluation.evaluators"))
        else:
            found[metric] = ids
    return found, tuple(issues)


def evaluators_in(rule: FrozenRule, rows: ObservationRows | list[Any] | None) -> dict[str, str]:
    """Metric → the evaluator of its first weighted row; rows of another are found later."""
    weighted = {(metric, role) for metric, role, _ in rule.cells}
    found: dict[str, str] = {}
    for metric, role, evaluator in scored_rows(rows):
        if named(metric) and named(role) and named(evaluator) and (metric, role) in weighted:
            found.setdefault(metric, evaluator)
    return found


def scored_rows(rows: ObservationRows | list[Any] | None) -> Iterator[tuple[Any, Any, Any]]:
    """Metric, role and evaluator of every row, or of every run of equal ones."""
    if isinstance(rows, ObservationRows) and rows.typed is not None:
        for run in rows.typed.runs:
            yield run.cell[0], run.cell[1], run.evaluator
        return
    listed = [row for _, row in rows.documents[0]] if isinstance(rows, ObservationRows) else rows
    for row in map(as_object, listed or ()):
        yield row.get("metric"), row.get("arm"), row.get("evaluator_id")


def explicit_items(items: JsonObject, evidence: Files) -> list[str] | None:
    """The ids of an evaluator's items: listed, or in a retained manifest."""
    ids = items.get("ids")
    if ids is None:
        return manifest_items(items, evidence)
    listed = as_list(ids)
    return list(listed) if listed and all(map(named, listed)) else None


def manifest_items(items: JsonObject, evidence: Files) -> list[str] | None:
    """The ids of a manifest that is retained under its hash."""
    ref = items.get("manifest_ref")
    file = evidence.get(ref) if isinstance(ref, str) else None
    if file is None or file.sha256 != items.get("manifest_sha256"):
        return None
    return ids_in(evidence, ref)


def stated_scores(record: Record, plan: JsonObject) -> Iterator[tuple[Cell, Any, str]]:
    """Every figure that must be the mean of a cell's rows: cell, value, place.

    These are the scores of a role and a seed, and, where the plan says which role and seed an arm
    is, the values of the loss record. A figure that is absent is the matter of its own gate.
    """
    for index, value in enumerate(as_list(record.section("evaluation").get("scores"))):
        score = as_object(value)
        cell = cell_of(score.get("metric"), score.get("arm"), score.get("seed"))
        if cell is not None and "value" in score:
            yield cell, score["value"], f"$.evaluation.scores[{index}].value"
    metric = as_object(plan.get("evaluation")).get("metric")
    losses = as_object(record.section("loss_eval").get("arms"))
    for value in as_list(plan.get("arms")):
        arm = as_object(value)
        name, cell = arm.get("name"), cell_of(metric, arm.get("role"), arm.get("seed"))
        loss = as_object(losses.get(name)) if isinstance(name, str) else {}
        if arm.get("phase") == "confirmation" and cell and "value" in loss:
            yield cell, loss["value"], below("$.loss_eval.arms", str(name), "value")


def cell_of(metric: object, role: object, seed: object) -> Cell | None:
    """A cell, if all three parts are there."""
    if named(metric) and named(role) and is_integer(seed):
        return metric, role, seed
    return None
