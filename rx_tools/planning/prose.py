"""Choices that a spec states only in its prose or command, read where the wording is clear."""

import re

from rx_tools.checks.margin_reading import reading_of
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer, is_number
from rx_tools.planning.plan import DataPlan, Schedule
from rx_tools.planning.questions import Inquiry

RENDERER = re.compile(r"renderer(?:_name)?\s*[=:(]\s*['\"]?([a-z0-9_]+)")
SPLIT_SEED = re.compile(r"random\.Random\((\d+)\)\.shuffle\((\w+)\)")
SEED_SHUFFLE = re.compile(r"random\.Random\(\s*SEED\s*\)\.shuffle\(")
HELD_OUT = re.compile(r"=\s*(\w+)\[:(\d+)\]\s*,\s*\1\[\2:\]")
RENDERERS = ("qwen3_5", "qwen3_5_disable_thinking")
SPLIT = re.compile(r"\b(test|validation|valid|dev)\b")
RECIPE = "tinker_cookbook.recipes.chat_sl.train"
SDK_LOOP = re.compile(r"\.optim_step\(\s*\w+")


def readings_of(spec: JsonObject, inquiry: Inquiry) -> dict[str, str | None]:
    """Criterion → reading; None keeps both readings in view and decides only where they agree."""
    criteria = as_list(as_object(spec.get("decision_rule")).get("criteria"))
    prose = as_text(spec.get("success_criterion"))
    readings: dict[str, str | None] = {}
    for criterion in map(as_object, criteria):
        name, margin = as_text(criterion.get("id")), criterion.get("margin")
        derived = reading_of(prose, float(margin)) if is_number(margin) else None
        readings[name] = inquiry.resolve(
            f"readings.{name}",
            derived,
            f"what refutes: an interval below +{margin} (margin), or below −{margin} (band)?",
            ("margin", "band"),
            blank=None,
        )
    return readings


def schedule_of(spec: JsonObject, inquiry: Inquiry) -> Schedule:
    """The stock recipe decays linearly; a loop that passes one rate to every step is constant."""
    command = as_text(spec.get("command"))
    if RECIPE in command:
        derived, source = "linear", "the chat_sl recipe's default"
    elif SDK_LOOP.search(command) and "schedule" not in command:
        derived, source = "constant", "the command passes one rate to every step"
    else:
        derived, source = None, "answered"
    kind = inquiry.resolve(
        "schedule.kind", derived, "how does the learning rate move?", ("constant", "linear")
    )
    return Schedule(kind or "constant", source if kind == derived else "answered")


def renderer_of(spec: JsonObject, inquiry: Inquiry) -> str:
    """The chat renderer; the choice alone moves the loss by tenths of a nat."""
    texts = (as_text(spec.get("command")), as_text(spec.get("method")))
    named = {name for text in texts for name in RENDERER.findall(text) if name in RENDERERS}
    stated = as_text(as_object(spec.get("eval")).get("renderer"))
    derived = stated or (named.pop() if len(named) == 1 else None)
    text = "which chat renderer do training and evaluation share?"
    return str(inquiry.resolve("evaluation.renderer", derived or None, text, RENDERERS))


def data_of(spec: JsonObject, needed: int, inquiry: Inquiry) -> DataPlan:
    """Source, splits and order of the rows; `needed` is the longest arm's rows."""
    dataset, evaluation = as_object(spec.get("dataset")), as_object(spec.get("eval"))
    command = as_text(spec.get("command"))
    split, held = SPLIT_SEED.search(command), HELD_OUT.search(command)
    n_eval = evaluation.get("n_examples")
    return DataPlan(
        source="hub",
        hf_path=as_text(dataset.get("hf_path")),
        train_split="train",
        eval_split=inquiry.resolve(
            "data.eval_split",
            eval_split_of(spec),
            "which split holds the evaluated rows?",
            blank="test",
        ),
        order=inquiry.resolve("data.order", order_of(command), ORDER_QUESTION, ORDERS),
        split_seed=int(split.group(1)) if split else None,
        held_out=int(held.group(2)) if held else 0,
        n_train=needed,
        n_eval=inquiry.resolve(
            "data.n_eval",
            n_eval if is_integer(n_eval) else None,
            "how many rows are evaluated?",
            blank=0,
        ),
        reduction=inquiry.resolve(
            "data.reduction", reduction_of(command), REDUCTION_QUESTION, ("mean", "none")
        ),
    )


def reduction_of(command: str) -> str | None:
    """The cookbook scales the weights of a chat to a sum of 1 unless it is told otherwise."""
    stated = re.search(r"reduction\s*=\s*['\"](mean|none)['\"]", command)
    if stated:
        return stated.group(1)
    return "mean" if RECIPE in command or "conversation_to_datum" in command else None


REDUCTION_QUESTION = "do the loss weights of a chat sum to 1 (mean), or are they a mask (none)?"
ORDERS = ("split_then_shuffle", "shuffle_per_seed", "file_order")
ORDER_QUESTION = "in which order are the training rows used?"


def order_of(command: str) -> str | None:
    """The order that the command's own code states."""
    if SPLIT_SEED.search(command) and SEED_SHUFFLE.search(command):
        return "split_then_shuffle"
    return "shuffle_per_seed" if RECIPE in command else None


def eval_split_of(spec: JsonObject) -> str | None:
    """The one split that the evaluation names."""
    evaluation = as_object(spec.get("eval"))
    text = f"{as_text(evaluation.get('benchmark'))} {as_text(evaluation.get('metric'))}".lower()
    found = set(SPLIT.findall(text))
    return found.pop() if len(found) == 1 else None
