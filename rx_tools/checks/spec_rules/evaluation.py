"""What is measured at the end is said once, and the same everywhere.

**What.** A held-out loss names its aggregation; `eval.aggregation` and the text of `eval.metric`
agree; a criterion measures the endpoint that the spec calls primary.

**Why.** `token_mean` and `example_mean` of the same outputs differ by more than most margins. A
record scored by the other one is inconclusive, and so is a decision on another metric.

**Fix.** Set `eval.aggregation` to `token_mean` or `example_mean`, and use one name for the endpoint
in `primary_endpoint` and in the criteria.

**Source.** Exchange contract, sections 8 and 9.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import criteria_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec
from rx_tools.numerics.loss_eval import AGGREGATIONS, is_loss_metric, requested_aggregation

CODES: Mapping[str, str] = {
    "RX190": "the metric's text and eval.aggregation name different means",
    "RX191": "a loss is measured, but its aggregation is not named",
    "RX192": "no criterion measures the primary endpoint",
}


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone."""
    return ruled([*aggregation(spec), *endpoint(spec)])


def aggregation(spec: Spec) -> Iterator[Finding]:
    """The one definition of the mean."""
    section = dict(as_object(spec.raw.get("eval")))
    asked = requested_aggregation({"eval": section})
    in_text = requested_aggregation({"eval": section | {"aggregation": None}})
    if asked is None:
        is_loss = is_loss_metric({"eval": section}) or spec.features.get("heldout_loss") is True
        if is_loss:
            message = f"the loss is averaged by none of {', '.join(AGGREGATIONS)}"
            yield on_spec("RX191", Level.UNVERIFIED, message, "$.eval.aggregation")
    elif in_text is not None and in_text != asked:
        message = f"eval.aggregation is {asked}, the metric's text says {in_text}"
        yield on_spec("RX190", Level.ERROR, message, "$.eval.aggregation")


def endpoint(spec: Spec) -> Iterator[Finding]:
    """Some criterion's metric is the endpoint, or is contained in its name."""
    primary = normal(spec.primary_endpoint or "")
    criteria = list(criteria_at(spec))
    metrics = [normal(as_text(criterion.get("metric"))) for _, criterion in criteria]
    if not primary or not any(metrics):
        return
    words = set(primary.split())
    if any(metric == primary or shares(set(metric.split()), words) for metric in metrics):
        return
    message = f"no criterion measures {spec.primary_endpoint!r}"
    place = below(criteria[0][0], "metric")
    yield on_spec("RX192", Level.WARNING, message, place, "name the endpoint in the same words")


def shares(one: set[str], other: set[str]) -> bool:
    """Whether two names have at least half of the shorter one's words in common."""
    return 2 * len(one & other) >= min(len(one), len(other))


def normal(name: str) -> str:
    """A name in lower case, its separators as blanks."""
    return " ".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
