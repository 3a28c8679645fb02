"""What a record says about changes of plan."""

from collections.abc import Iterator, Mapping

from rx_tools.checks.grading import Problem, examine, grade, one_of, text
from rx_tools.model.json import JsonObject, as_list, as_object
from rx_tools.model.json_path import below
from rx_tools.model.result import Status

FIELDS = (
    "model",
    "objective",
    "effective_batch",
    "steps",
    "dataset",
    "evaluator",
    "endpoint",
)
PLACE = "$.deviations"


def deviation_problems(raw: JsonObject) -> Iterator[Problem]:
    """A list, empty if the spec ran as written; each entry complete."""
    listed = raw.get("deviations")
    if not isinstance(listed, list):
        status = Status.UNVERIFIED if listed is None else Status.INVALID
        yield Problem(status, "RX398", "record: deviations is no list.", PLACE)
    deviations = [as_object(item) for item in as_list(listed)]
    for index, deviation in enumerate(deviations):
        yield from one_deviation(f"deviation {index + 1}", deviation, below(PLACE, index))
    if raw.get("original_hypothesis_tested") is False and not deviations:
        message = "record: the hypothesis was not tested, but no deviation says what changed."
        yield Problem(Status.UNVERIFIED, "RX398", message, PLACE)


def one_deviation(label: str, deviation: JsonObject, place: str) -> Iterator[Problem]:
    """A known field, what it was, what it became, and why."""
    rules = {"field": one_of(*FIELDS), "original": stated, "effective": stated, "reason": text}
    yield from examine(deviation, rules, "RX398", label, place)


def stated(value: object) -> Status:
    """A text or a number: `"32"` or `32`."""
    return text(value) if isinstance(value, str) else grade(value, is_plain)


def is_plain(value: object) -> bool:
    """Neither an object nor a list; a number must be finite."""
    return not isinstance(value, Mapping | list) and value == value  # noqa: PLR0124
