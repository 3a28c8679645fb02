"""Which generated tasks are re-solved, and which of them are in the evaluation set."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rx_tools.model.json import as_text


def select_sample(
    tasks: Sequence[Mapping[str, Any]], size: int, seed: int
) -> list[Mapping[str, Any]]:
    """At most `size` accepted tasks, in the order of the SHA-256 of the JSON `[seed, item_id]`.

    A task without `disposition` counts as accepted. The JSON is the one that `json.dumps` writes.
    Source: contract, section 10.
    """
    accepted = [task for task in tasks if task.get("disposition", "accepted") == "accepted"]
    return sorted(accepted, key=lambda task: rank(seed, task.get("item_id")))[: max(size, 0)]


def rank(seed: int, item_id: object) -> str:
    """The place of an item in the sampling order of a seed."""
    return hashlib.sha256(json.dumps([seed, item_id]).encode()).hexdigest()


def evaluation_overlap(
    tasks: Sequence[Mapping[str, Any]], evaluation: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The ids of the accepted tasks whose prompt is a prompt of the evaluation set.

    Prompts are compared exactly after NFKC, casefold and whitespace normalization; a paraphrase is
    not detected. Source: contract, section 10.
    """
    held_out = {normalized(as_text(item.get("prompt"))) for item in evaluation}
    return [
        as_text(task.get("item_id"))
        for task in tasks
        if task.get("disposition", "accepted") == "accepted"
        and normalized(as_text(task.get("prompt"))) in held_out
    ]


def duplicate_prompts(tasks: Sequence[Mapping[str, Any]]) -> int:
    """How many accepted tasks repeat the prompt of an earlier one."""
    prompts = [
        normalized(as_text(task.get("prompt")))
        for task in tasks
        if task.get("disposition", "accepted") == "accepted"
    ]
    return len(prompts) - len(set(prompts))


def normalized(prompt: str) -> str:
    """A prompt without differences of form, case and white space."""
    return " ".join(unicodedata.normalize("NFKC", prompt).casefold().split())
