"""The evidence level, losses: summed again from the predicted items, and scores against them."""

from collections.abc import Iterator

from rx_tools.checks.loss_items import ArmItems, differing, items_by_arm, loss_items
from rx_tools.evidence.claim import Claim, contradicted, incomplete, verified
from rx_tools.evidence.layout import RECORD, in_evidence
from rx_tools.evidence.timeline import Timeline
from rx_tools.evidence.verify_feasibility import whole_plan
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.record import Record
from rx_tools.numerics.loss_eval import AGGREGATIONS, DEFAULT_AGGREGATION
from rx_tools.planning.evaluated import evaluation_section


def verify_losses(record: Record, evidence: Evidence) -> Iterator[Claim]:
    """The held-out losses of the record, summed again from the predicted items."""
    section = record.section("loss_eval")
    stated, aggregation = as_object(section.get("arms")), as_text(section.get("aggregation"))
    if not stated:
        return
    found = loss_items(record, evidence)
    for name, fault in {**found.unreadable, **found.repeating}.items():
        yield contradicted(in_evidence(name), fault)
    if aggregation not in AGGREGATIONS:
        yield contradicted("losses", f"the aggregation is stated as {aggregation!r}")
        return
    good = 0
    for arm, entry in sorted(stated.items()):
        if arm not in found.arms:
            yield incomplete(f"loss of {arm}", "no retained prediction is of this arm")
            continue
        summed = found.arms[arm].record(aggregation)
        key = differing(as_object(entry), summed, summed)
        good += not key
        if key:
            wrong = f"{key} is stated as {as_object(entry).get(key)!r}"
            message = f"{wrong}, summed from the rows it is {summed[key]!r}"
            yield contradicted(f"loss of {arm}", message)
    yield verified("losses", f"{good} arms summed again from their predictions")


def verify_scored(record: Record, evidence: Evidence, history: Timeline) -> Iterator[Claim]:
    """What the ledger told when an arm was scored, the base and those of a search included."""
    items = items_by_arm(record, evidence)
    for data in history.data("arm_scored"):
        arm = str(data.get("arm"))
        if arm not in items:
            yield incomplete(f"scoring of {arm}", "no retained prediction is of this arm")
            continue
        key = wrongly_told(data, items[arm])
        if key:
            yield contradicted(f"scoring of {arm}", f"{key} in the ledger is not that of the rows")


def wrongly_told(data: JsonObject, items: ArmItems) -> str:
    """The first figure of a scoring that is not that of its rows; empty if there is none."""
    loss = as_object(data.get("loss_eval"))
    aggregation = as_text(loss.get("aggregation")) or DEFAULT_AGGREGATION
    if aggregation not in AGGREGATIONS:
        return "aggregation"
    summed = items.record(aggregation)
    beside = [key for key in summed if key in data]
    return differing(data, summed, beside) or (differing(loss, summed, summed) if loss else "")


def verify_evaluation(record: Record, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """The section as plan and ledger give it: evaluators, scores, comparisons."""
    stated, frozen = record.section("evaluation"), whole_plan(plan)
    if not stated or frozen is None:
        return
    told = history.data("evaluator_frozen"), history.data("arm_scored")
    derived = evaluation_section(frozen, *told)
    wrong = [key for key, value in derived.items() if stated.get(key) != value]
    for key in wrong:
        yield contradicted(f"{RECORD} evaluation", f"{key} are not those of plan and ledger")
    if not wrong:
        yield verified("evaluation", "evaluators, scores and comparisons follow from the plan")


def verify_scores(record: Record, plan: JsonObject) -> Iterator[Claim]:
    """Each score is the loss of the arm that has its role and seed in the plan."""
    losses = as_object(record.section("loss_eval").get("arms"))
    names = {
        (as_text(arm.get("role")), str(arm.get("seed"))): as_text(arm.get("name"))
        for arm in map(as_object, as_list(plan.get("arms")))
        if arm.get("phase") == "confirmation"
    }
    compared = 0
    for score in map(as_object, as_list(record.section("evaluation").get("scores"))):
        arm = as_text(score.get("arm"))
        loss = as_object(losses.get(names.get((arm, str(score.get("seed"))), arm)))
        if not loss:
            continue
        compared += 1
        if score.get("value") != loss.get("value"):
            stated, derived = score.get("value"), loss.get("value")
            yield contradicted(f"score of {arm}", f"stated {stated!r}, its loss is {derived!r}")
    if compared:
        yield verified("scores", f"{compared} scores were compared with the losses")
