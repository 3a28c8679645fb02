"""From the frozen plan's `data` and `evaluation` to the data of the run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rx_tools.errors import UsageError
from rx_tools.runner.data.order import Order
from rx_tools.runner.data.prepared import DataChoices, PreparedData, Reduction, prepare_data
from rx_tools.runner.data.rendering import TRAIN_ON_WHAT, Implementation


def planned_data(
    data: Mapping[str, Any],
    evaluation: Mapping[str, Any],
    *,
    batch_size: int,
    tokenizer: Path | str,
    implementation: Implementation = "builtin",
    source: str | Path | None = None,
    reduction: Reduction = "none",
) -> PreparedData:
    """Prepare what a plan froze; both mappings have the form of the plan document.

    `source` replaces `data.hf_path` by a local copy of the same rows. Raises `UsageError` when
    the rows are fewer than the plan reads, before anything is rendered.
    """
    trained_on = evaluation["train_on_what"]
    if trained_on != TRAIN_ON_WHAT:
        raise UsageError(f"training on {trained_on!r} is not offered", hint=TRAIN_ON_WHAT)
    prepared = prepare_data(
        source or data["hf_path"],
        renderer=evaluation["renderer"],
        tokenizer=tokenizer,
        choices=data_choices(
            data,
            evaluation["max_length"],
            batch_size,
            reduction,
            skip_empty=evaluation.get("aggregation") == "example_mean",
        ),
        train_split=data["train_split"],
        eval_split=data["eval_split"],
        implementation=implementation,
    )
    return _enough(prepared, data["n_train"])


def data_choices(
    data: Mapping[str, Any],
    max_length: int,
    batch_size: int,
    reduction: Reduction = "none",
    skip_empty: bool = False,
) -> DataChoices:
    """The plan's choices; `n_eval` counts the first rows of the evaluation split."""
    return DataChoices(
        order=Order(data["order"]),
        batch_size=batch_size,
        max_length=max_length,
        split_seed=data["split_seed"],
        held_out=data["held_out"],
        eval_first=data["n_eval"],
        reduction=reduction,
        skip_empty=skip_empty,
    )


def _enough(prepared: PreparedData, needed: int) -> PreparedData:
    available = prepared.steps_available() * prepared.choices.batch_size
    if needed <= available:
        return prepared
    raise UsageError(
        f"the plan trains on {needed} rows; {available} are there in whole batches",
        where=prepared.train.source,
    )
