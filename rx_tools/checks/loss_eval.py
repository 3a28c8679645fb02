"""Held-out loss: were all arms scored by one definition, on the same tokens?

**What.** The `loss_eval` section states, per arm, the summed NLL, the counted tokens and examples,
and both means. It is checked against the aggregation that the spec asks for, against its own
totals and across arms; where the predictions state token counts, also item by item.

**Why.** A mean of batch means, or arms scored on different tokens, compares two quantities as if
they were one. Equal totals can hide items that were cut differently.

**Fix.** Score every arm with `LossEval` (or the file that `rx loss-eval --standalone` writes), on
the same items with one renderer, mask and length, and report `loss_report(aggregation, arms)`.

**Source.** Exchange contract, section 8.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.deciding.rule import finite
from rx_tools.checks.grading import Problem, worst
from rx_tools.checks.loss_items import ArmItems, differing, loss_items
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_object, is_integer
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec
from rx_tools.numerics.loss_eval import NO_RECORD, check

CODES: Mapping[str, str] = {
    "RX451": "there is no loss record",
    "RX452": "an arm's loss record is missing",
    "RX453": "the loss record is malformed",
    "RX454": "the loss record contradicts the spec, itself or another arm",
    "RX455": "an item was scored on different tokens in two arms",
    "RX456": "the items do not add up to the arm's record",
}

SECTION = "$.loss_eval"
MALFORMED = ("is not one of", "needs numeric")
SHOWN = 5


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The loss gate; `details` holds the server's messages. Never raises."""
    applies = check_applicability(spec.raw, Gate.LOSS_EVAL)
    if not applies["enforce"]:
        return result(Status.NOT_APPLICABLE, [], applies)
    problems = [*record_problems(spec, record), *item_problems(record, evidence)]
    return result(worst(problem.status for problem in problems), problems, applies)


def result(status: Status, problems: list[Problem], applies: Mapping[str, Any]) -> Result:
    """The answer, in the style of the server's."""
    details = {
        "status": status.value,
        "issues": [problem.message for problem in problems],
        "applicability": dict(applies),
    }
    return Result(status, tuple(problem.finding for problem in problems), details)


def record_problems(spec: Spec, record: Record) -> Iterator[Problem]:
    """What the server finds, and the arms that have no entry."""
    section = record.raw.get("loss_eval")
    messages = check(spec.raw, section)
    arms = as_object(as_object(section).get("arms"))
    if messages == [NO_RECORD] or not arms:
        yield Problem(Status.UNVERIFIED, "RX451", NO_RECORD, SECTION)
        return
    for message in messages:
        yield graded(message)
    yield from absent_arms(spec, arms)
    for name, arm in arms.items():
        yield from count_problems(name, as_object(arm))


def absent_arms(spec: Spec, arms: Mapping[str, Any]) -> Iterator[Problem]:
    """Confirmation arms of the spec without an entry, where the entries bear the spec's names."""
    planned = [arm.name for arm in spec.arms if arm.phase != "selection" and arm.name]
    if not any(name in arms for name in planned):
        return
    for name in planned:
        if name not in arms:
            place = below(SECTION, "arms", name)
            yield Problem(Status.UNVERIFIED, "RX452", f"arm {name}: no loss record", place)


def count_problems(name: str, arm: Mapping[str, Any]) -> Iterator[Problem]:
    """What the server takes on trust: counts are counts, and both means are numbers."""
    place = below(SECTION, "arms", name)
    if arm and "n_examples" not in arm:
        text = f"arm {name}: n_examples is not recorded"
        yield Problem(Status.UNVERIFIED, "RX453", text, place)
    for key in ("n_tokens", "n_examples", "n_empty"):
        if key in arm and not is_count(arm[key]):
            text = f"arm {name}: {key} is no count"
            yield Problem(Status.INVALID, "RX453", text, below(place, key))
    for key in ("token_mean", "example_mean"):
        if key in arm and not finite(arm[key]):
            text = f"arm {name}: {key} is no number"
            yield Problem(Status.INVALID, "RX453", text, below(place, key))


def is_count(value: object) -> bool:
    """Whether the value is an integer, zero or above, that a double can hold."""
    return is_integer(value) and finite(value) and value >= 0


def graded(message: str) -> Problem:
    """A message of the server with the status that it deserves."""
    if message.endswith("no loss record"):
        return Problem(Status.UNVERIFIED, "RX452", message, SECTION)
    if any(words in message for words in MALFORMED):
        return Problem(Status.INVALID, "RX453", message, SECTION)
    return Problem(Status.FAILED, "RX454", message, SECTION)


def item_problems(record: Record, evidence: Evidence) -> Iterator[Problem]:
    """Arms compared item by item, as far as the retained predictions state token counts."""
    entries = as_object(record.section("loss_eval").get("arms"))
    read = loss_items(record, evidence).arms
    items = {arm: found for arm, found in read.items() if arm in entries}
    for arm, found in items.items():
        yield from total_problems(arm, found, as_object(entries[arm]))
    arms = list(items)
    for arm in arms[1:]:
        yield from pair_problems(arms[0], items[arms[0]].counts, arm, items[arm].counts)


def total_problems(arm: str, items: ArmItems, entry: JsonObject) -> Iterator[Problem]:
    """The items of an arm add up to its record."""
    if differing(entry, items.sums, ("n_tokens", "nll_sum")):
        total, tokens = items.sums["nll_sum"], items.sums["n_tokens"]
        text = f"arm {arm}: its items add up to {total!r} over {tokens} tokens, not to its record"
        yield Problem(Status.FAILED, "RX456", text, below(SECTION, "arms", arm))


def pair_problems(
    first: str, left: Mapping[str, int], second: str, right: Mapping[str, int]
) -> Iterator[Problem]:
    """Two arms have the same items, each with the same number of counted tokens."""
    if left == right:
        return
    items = sorted(left.keys() | right.keys())
    others = [item for item in items if left.get(item) != right.get(item)]
    for item in others[:SHOWN]:
        counts = [side.get(item, "no") for side in (left, right)]
        text = f"item {item}: {counts[0]} tokens in arm {first}, {counts[1]} in arm {second}"
        yield Problem(Status.FAILED, "RX455", text, SECTION)
    if len(others) > SHOWN:
        text = f"{len(others)} items differ between arm {first} and arm {second} in all"
        yield Problem(Status.FAILED, "RX455", text, SECTION)
