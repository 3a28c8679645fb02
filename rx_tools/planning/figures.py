"""Figures that a record states beside its sections, and the sentence that repeats them.

Who writes a record and who verifies one derive them here, from the same things.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rx_tools.model.json import JsonObject, as_object
from rx_tools.planning.plan import Plan

BASE_FIGURE = "base_token_mean_nll"
NUMBER = re.compile(r"(?<![\w.-])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w-])")


def arm_figures(loss: JsonObject, steps: object, train_nlls: Sequence[object]) -> dict[str, Any]:
    """What is told of one arm: its held-out loss, its steps, its first and last training loss."""
    figures = {
        "token_mean_nll": loss["token_mean"],
        "n_tokens": loss["n_tokens"],
        "n_examples": loss["n_examples"],
        "steps": steps,
    }
    losses = [nll for nll in train_nlls if isinstance(nll, float)]
    if losses and all(map(math.isfinite, losses)):
        figures |= {"train_nll_first": losses[0], "train_nll_last": losses[-1]}
    return figures


def decision_figures(criteria: Sequence[JsonObject]) -> dict[str, float]:
    """The decision's numbers, unrounded, under names that say which criterion they belong to.

    `criteria` are entries of the decision gate's answer.
    """
    found: dict[str, object] = {}
    for criterion in criteria:
        prefix = "D" if len(criteria) == 1 else criterion["id"]
        found |= {
            f"{prefix}_mean": criterion["mean"],
            f"{prefix}_sd": criterion["sd"],
            f"{prefix}_ci_low": criterion["low"],
            f"{prefix}_ci_high": criterion["high"],
        }
        effects = as_object(criterion["seed_effects"])
        found |= {f"{prefix}_seed{seed}": value for seed, value in effects.items()}
    return {name: value for name, value in found.items() if isinstance(value, float)}


def closing_summary(
    plan: Plan,
    base_model: object,
    accepted: Iterable[str],
    criteria: Sequence[JsonObject],
    end: str,
) -> str:
    """At most two plain sentences: what ran, and what it showed; `end` is the outcome's reason."""
    ran = (
        f"{len(plan.arms)} arms of {base_model} on {plan.data.hf_path} ran "
        f"through rx and were scored on {plan.data.n_eval} held-out rows{accepted_words(accepted)}."
    )
    if not criteria:
        return f"{ran} The outcome is {end}."
    first = criteria[0]
    if first["low"] is None or first["high"] is None or first["mean"] is None:
        return f"{ran} There is no interval: {end}."
    interval = f"[{first['low']:.6g}, {first['high']:.6g}]"
    return f"{ran} The effect of {first['id']} is {first['mean']:.6g} with interval {interval}."


def accepted_words(gates: Iterable[str]) -> str:
    """Names the gates that were passed over by consent."""
    named = ", ".join(dict.fromkeys(gates))
    return f", with {named} accepted unverified" if named else ""


def numbers_in(text: str) -> list[str]:
    """The numbers that stand in a text for themselves, not within a name."""
    return NUMBER.findall(text)
