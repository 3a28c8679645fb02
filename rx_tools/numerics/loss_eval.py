"""Held-out loss: one definition of mean NLL for every arm that is compared.

This file needs nothing but the standard library, so it can be copied next to an experiment
script and imported there: `rx loss-eval --standalone -o loss_eval.py` writes it.

A token counts when its loss weight is above 0. Weights are a mask; their size is ignored.

- `token_mean`: summed NLL of all counted tokens / their number.
- `example_mean`: mean over examples of (NLL of the example / its counted tokens).

Examples without a counted token are in neither mean; `n_empty` reports them. Totals are kept per
example and summed exactly, so the result depends on neither batching nor order. Averaging the
`loss:mean` of batches gives neither of the two.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

AGGREGATIONS = ("token_mean", "example_mean")
DEFAULT_AGGREGATION = "token_mean"
REL_TOLERANCE = 1e-6
ABS_TOLERANCE = 1e-12

EXAMPLE_MEAN_PHRASES = (
    "per example",
    "example mean",
    "example weighted",
    "mean of example",
    "per sequence",
)
TOKEN_MEAN_PHRASES = (
    "per token",
    "token mean",
    "token weighted",
    "per assistant token",
    "nats/token",
)
LOSS_WORDS = (
    "nll",
    "loss",
    "perplexity",
    "cross entropy",
    "cross-entropy",
    "log likelihood",
)
NO_RECORD = "no loss_eval record: the loss aggregation behind the reported numbers is unknown"


def example_nll(logprobs: Any, weights: Any) -> tuple[float, int]:
    """`(summed NLL, number of tokens)` over the tokens of one example with a weight above 0.

    `logprobs` and `weights` are one-dimensional and of equal length: lists, arrays, tensors, or
    objects with a `data` list. Raises `ValueError` when their lengths differ.
    """
    scores, mask = _floats(logprobs), _floats(weights)
    if len(scores) != len(mask):
        raise ValueError(f"{len(scores)} logprobs but {len(mask)} weights")
    counted = [-score for score, weight in zip(scores, mask, strict=True) if weight > 0]
    return math.fsum(counted), len(counted)


class LossEval:
    """Collects per-example totals of one arm; `examples` holds `(nll_sum, n_tokens)` pairs."""

    def __init__(self, aggregation: str = DEFAULT_AGGREGATION) -> None:
        if aggregation not in AGGREGATIONS:
            raise ValueError(f"aggregation must be one of {AGGREGATIONS}, got {aggregation!r}")
        self.aggregation = aggregation
        self.examples: list[tuple[float, int]] = []

    def add(self, logprobs: Any, weights: Any) -> None:
        """Add one example."""
        self.examples.append(example_nll(logprobs, weights))

    def add_output(self, output: Any, weights_per_example: Iterable[Any]) -> None:
        """Add what `forward(…, "cross_entropy")` returned for a batch, with the batch's weights."""
        outputs = output.loss_fn_outputs
        for one, weights in zip(outputs, weights_per_example, strict=True):
            self.add(one["logprobs"], weights)

    def record(self) -> dict[str, Any]:
        """The arm's entry of the `loss_eval` record; the means are None without a counted token."""
        nlls = [nll for nll, _ in self.examples]
        return summed(self.aggregation, nlls, [tokens for _, tokens in self.examples])


def summed(aggregation: str, nlls: Sequence[float], tokens: Sequence[int]) -> dict[str, Any]:
    """The entry of one arm from the NLL sum and the counted tokens of each of its examples."""
    counted = [nll for nll, n in zip(nlls, tokens, strict=True) if n > 0]
    nll_sum, n_tokens = math.fsum(counted), sum([n for n in tokens if n > 0])
    means: dict[str, float | None] = {"token_mean": None, "example_mean": None}
    if counted:
        per_example = math.fsum([nll / n for nll, n in zip(nlls, tokens, strict=True) if n > 0])
        means = {"token_mean": nll_sum / n_tokens, "example_mean": per_example / len(counted)}
    return {
        "aggregation": aggregation,
        "value": means[aggregation],
        **means,
        "nll_sum": nll_sum,
        "n_tokens": n_tokens,
        "n_examples": len(counted),
        "n_empty": len(nlls) - len(counted),
    }


def report(aggregation: str, arms: Mapping[str, LossEval]) -> dict[str, Any]:
    """The `loss_eval` section of a run record; `arms` maps arm names to their `LossEval`."""
    entries = {name: evaluator.record() for name, evaluator in arms.items()}
    return {"aggregation": aggregation, "arms": entries}


def requested_aggregation(spec: Any) -> str | None:
    """The aggregation that a spec asks for: stated, or read from the metric's text, or None."""
    section = _eval_section(spec)
    stated = str(section.get("aggregation") or "").strip().lower()
    stated = stated.replace("-", "_").replace(" ", "_")
    if stated in AGGREGATIONS:
        return stated
    text = _metric_text(section).replace("-", " ")
    if any(phrase in text for phrase in EXAMPLE_MEAN_PHRASES):
        return "example_mean"
    if any(phrase in text for phrase in TOKEN_MEAN_PHRASES):
        return "token_mean"
    return None


def is_loss_metric(spec: Any) -> bool:
    """Whether the spec's metric or benchmark speaks of a loss."""
    text = _metric_text(_eval_section(spec))
    return any(word in text for word in LOSS_WORDS)


def check(spec: Any, loss_eval: Any) -> list[str]:
    """What makes a `loss_eval` record unusable for the spec's verdict; an empty list if nothing.

    Means are compared with relative tolerance 1e-6, absolute 1e-12.
    """
    requested = requested_aggregation(spec)
    arms = loss_eval.get("arms") if isinstance(loss_eval, dict) else None
    if not isinstance(arms, dict) or not arms:
        return [NO_RECORD] if requested or is_loss_metric(spec) else []
    aggregation = loss_eval.get("aggregation")
    problems = _aggregation_problems(aggregation, requested)
    for name, arm in arms.items():
        problems += _arm_problems(name, arm, aggregation)
    return problems + _count_problems(arms)


def _aggregation_problems(aggregation: Any, requested: str | None) -> list[str]:
    if aggregation not in AGGREGATIONS:
        known = ", ".join(AGGREGATIONS)
        return [f"loss_eval aggregation {aggregation!r} is not one of {known}"]
    if requested and aggregation != requested:
        return [f"spec asks for {requested} but the run reported {aggregation}"]
    return []


def _arm_problems(name: str, arm: Any, aggregation: Any) -> list[str]:
    if not isinstance(arm, dict):
        return [f"arm {name}: no loss record"]
    used = arm.get("aggregation", aggregation)
    other = [] if used == aggregation else [f"arm {name} used {used}, not the run's {aggregation}"]
    return other + _value_problems(name, arm, aggregation)


def _value_problems(name: str, arm: dict[str, Any], aggregation: Any) -> list[str]:
    nll_sum: Any = arm.get("nll_sum")
    n_tokens: Any = arm.get("n_tokens")
    value: Any = arm.get("value")
    numeric = _is_number(value) and _is_number(nll_sum) and _is_number(n_tokens)
    if not numeric or not n_tokens > 0:
        return [f"arm {name}: needs numeric value, nll_sum and n_tokens > 0"]
    token_mean: float = nll_sum / n_tokens
    stated = arm.get("token_mean", token_mean)
    if not _agree(stated, token_mean):
        return [f"arm {name}: token_mean {stated} is not nll_sum / n_tokens = {token_mean:.6g}"]
    if aggregation == "token_mean" and not _agree(value, token_mean):
        derived = f"{token_mean:.6g} (nll_sum / n_tokens)"
        return [f"arm {name}: value {value} is not the token mean {derived}"]
    example_mean: Any = arm.get("example_mean")
    states_one = aggregation == "example_mean" and _is_number(example_mean)
    if states_one and not _agree(value, example_mean):
        return [f"arm {name}: value {value} is not its example_mean {example_mean}"]
    return []


def _count_problems(arms: dict[str, Any]) -> list[str]:
    counts = {
        name: (arm.get("n_tokens"), arm.get("n_examples"))
        for name, arm in arms.items()
        if isinstance(arm, dict)
    }
    pairs = list(counts.values())
    if all(pair == pairs[0] for pair in pairs):
        return []
    listed = ", ".join(f"{name} {t} tokens / {e} examples" for name, (t, e) in counts.items())
    return [f"arms were scored on different tokens or examples: {listed}"]


def _eval_section(spec: Any) -> dict[str, Any]:
    section = spec.get("eval") if isinstance(spec, dict) else None
    return section if isinstance(section, dict) else {}


def _metric_text(section: dict[str, Any]) -> str:
    return " ".join(str(section.get(key) or "") for key in ("metric", "benchmark")).lower()


def _floats(values: Any) -> Sequence[float]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    elif hasattr(values, "data"):
        values = values.data
    return [float(value) for value in values]


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _agree(value: Any, expected: float) -> bool:
    if not _is_number(value):
        return False
    return math.isclose(value, expected, rel_tol=REL_TOLERANCE, abs_tol=ABS_TOLERANCE)
