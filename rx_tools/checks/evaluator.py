"""All compared arms were scored by one frozen evaluator, whose identity can be recomputed.

**What.** Every evaluator id hashes from its provenance, every score names an evaluator of the
record, and every comparison has one evaluator under which all its arms (and seeds) were scored.

**Why.** A changed grader, prompt, decoding or item list moves scores by more than most treatments.

**Fix.** Freeze the evaluator before the first score; after any change score every arm, every seed
and the base model again. Old scores keep the id of the evaluator that made them.

**Source.** Exchange contract, section 7.
"""

from collections.abc import Iterator, Mapping, Sequence

from rx_tools.checks.comparisons import Compared, compare, coverage_problems
from rx_tools.checks.evaluator_id import evaluator_id
from rx_tools.checks.grading import (
    Problem,
    examine,
    grade,
    integer,
    non_negative,
    number,
    sha256,
    text,
    worst,
)
from rx_tools.errors import DocumentError
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, is_integer
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX360": "nothing was recorded about the evaluation",
    "RX361": "evaluators, scores or comparisons are missing",
    "RX362": "an evaluator's provenance is incomplete or malformed",
    "RX363": "an evaluator id does not hash from its provenance",
    "RX364": "a score is incomplete or malformed",
    "RX365": "one arm has two scores for one metric, seed and evaluator",
    "RX366": "compared arms were not all scored",
    "RX367": "compared arms were scored by different evaluators",
    "RX368": "no comparison covers what the decision rule weighs",
}

SECTION = "$.evaluation"
NOTHING = "Evaluation not recorded."
EXPECTED = "Expected evaluators, scores and comparisons."


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The evaluator gate; `details` is the server's answer. Never raises."""
    evaluation = record.raw.get("evaluation")
    problems, compared = assess(spec, evaluation)
    status = worst(problem.status for problem in problems)
    details = {
        "status": status.value,
        "issues": [problem.message for problem in problems],
        "comparisons": [comparison.entry for comparison in compared],
    }
    return Result(status, tuple(problem.finding for problem in problems), details)


def assess(spec: Spec, evaluation: object) -> tuple[list[Problem], list[Compared]]:
    """Every problem of the section, and what each comparison came to."""
    if evaluation is None or evaluation == {}:
        return [Problem(Status.UNVERIFIED, "RX360", NOTHING, SECTION)], []
    section = as_object(evaluation)
    evaluators = as_object(section.get("evaluators"))
    scores, comparisons = as_list(section.get("scores")), as_list(section.get("comparisons"))
    if not (evaluators and scores and comparisons):
        return [Problem(Status.INVALID, "RX361", EXPECTED, SECTION)], []
    problems = [
        *version_problems(section.get("version")),
        *(problem for item in evaluators.items() for problem in evaluator_problems(*item)),
        *score_problems([as_object(score) for score in scores], evaluators),
    ]
    rows = [as_object(score) for score in scores]
    compared = [
        compare(spec, as_object(item), rows, below(SECTION, "comparisons", index))
        for index, item in enumerate(comparisons)
    ]
    problems += [problem for comparison in compared for problem in comparison.problems]
    problems += coverage_problems(spec, [as_object(item) for item in comparisons])
    return problems, compared


def version_problems(version: object) -> Iterator[Problem]:
    """The version is 1 and nothing like it."""
    if not (is_integer(version) and version == 1):
        status = Status.UNVERIFIED if version is None else Status.INVALID
        yield Problem(status, "RX361", "evaluation.version is not 1.", f"{SECTION}.version")


def evaluator_problems(identity: str, value: object) -> Iterator[Problem]:
    """One evaluator: complete provenance that hashes to its id."""
    provenance = as_object(value)
    label, place = f"evaluator {identity[:12]}", below(SECTION, "evaluators", identity)
    rules = {"code_sha256": sha256, "prompt_template": text, "parser": text}
    yield from examine(provenance, rules, "RX362", label, place)
    decoding = {"temperature": non_negative, "max_tokens": non_negative, "stop": texts}
    at = below(place, "decoding")
    section = as_object(provenance.get("decoding"))
    yield from examine(section, decoding, "RX362", f"{label}: decoding", at)
    yield from item_problems(label, as_object(provenance.get("items")), below(place, "items"))
    try:
        recomputed = str(evaluator_id(provenance))
    except DocumentError as error:
        yield Problem(Status.INVALID, "RX363", f"{label}: {error.what}", place)
        return
    if recomputed != identity:
        message = f"{label}: its provenance hashes to {recomputed}."
        yield Problem(Status.INVALID, "RX363", message, place)


def texts(value: object) -> Status:
    """A list of strings, possibly empty."""
    return grade(value, lambda v: isinstance(v, list) and all(isinstance(t, str) for t in v))


def item_problems(label: str, items: JsonObject, place: str) -> Iterator[Problem]:
    """Explicit distinct ids, or a manifest file with its hash."""
    if "ids" in items:
        if not are_distinct_texts(as_list(items.get("ids"))):
            message = f"{label}: items.ids must be distinct non-empty strings."
            yield Problem(Status.INVALID, "RX362", message, below(place, "ids"))
        return
    manifest = {"manifest_ref": text, "manifest_sha256": sha256}
    yield from examine(items, manifest, "RX362", f"{label}: items", place)


def are_distinct_texts(ids: Sequence[object]) -> bool:
    """Whether there are ids, and every one is a text that stands there once."""
    texts = {item for item in ids if isinstance(item, str) and item.strip()}
    return 0 < len(ids) == len(texts)


def score_problems(scores: list[JsonObject], evaluators: JsonObject) -> Iterator[Problem]:
    """Every score complete, finite, by a known evaluator, and there once."""
    seen: set[tuple[str, ...]] = set()
    for index, score in enumerate(scores):
        label, place = f"score {index + 1}", below(SECTION, "scores", index)
        rules = {"arm": text, "metric": text, "value": number, "predictions_ref": text}
        yield from examine(score, rules, "RX364", label, place)
        identity, seed = score.get("evaluator_id"), score.get("seed")
        if not isinstance(identity, str) or identity not in evaluators:
            status = Status.UNVERIFIED if identity is None else Status.INVALID
            message = f"{label}: evaluator_id names no recorded evaluator."
            yield Problem(status, "RX364", message, below(place, "evaluator_id"))
        if seed is not None and integer(seed) is not Status.PASSED:
            message = f"{label}: seed is malformed."
            yield Problem(Status.INVALID, "RX364", message, below(place, "seed"))
        key = tuple(str(score.get(part)) for part in ("arm", "metric", "seed", "evaluator_id"))
        if key in seen:
            message = f"{label}: a second score for the same arm, metric, seed and evaluator."
            yield Problem(Status.INVALID, "RX365", message, place)
        seen.add(key)
