"""The data of one run, ready to train and score with: every batch, item and digest by number.

Rows are rendered when they are first needed, once, and kept. The arrays are read-only.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

import rx_tools
from rx_tools.errors import DocumentError, UsageError
from rx_tools.model.names import Sha256
from rx_tools.runner.data.census import Census, take_census
from rx_tools.runner.data.chats import RowId
from rx_tools.runner.data.order import Order, batch_digest, batch_rows, split_rows, training_order
from rx_tools.runner.data.rendering import Implementation, Rendered, Renderer, make_renderer
from rx_tools.runner.data.sources import Dataset, load_split
from rx_tools.runner.service import Datum

ItemKind = Literal["search", "confirmation"]
"""`search` items choose a learning rate; `confirmation` items decide, once."""

Reduction = Literal["none", "mean"]
MANIFEST_SCHEMA = "urn:rx:schema:data-manifest:1"


@dataclass(frozen=True, slots=True)
class DataChoices:
    """The frozen choices of a plan that concern data.

    `eval_first` takes only the first rows of the evaluation split. `epochs` must be said for a
    second pass. `reduction` scales the training weights of each chat to a sum of 1 (`mean`, what
    the cookbook's `conversation_to_datum` does by default) or leaves them a mask (`none`).
    `skip_empty` leaves items without a counted token out: they have no part in an example mean.
    """

    order: Order
    batch_size: int
    max_length: int
    split_seed: int | None = None
    held_out: int = 0
    eval_first: int | None = None
    epochs: int = 1
    skip_empty: bool = False
    reduction: Reduction = "none"


class PreparedData:
    """Batches by seed and step, items by kind, and their digests."""

    def __init__(
        self, train: Dataset, evaluation: Dataset, renderer: Renderer, choices: DataChoices
    ) -> None:
        self.train, self.evaluation = train, evaluation
        self.renderer, self.choices = renderer, choices
        self._search, self._rest = split_rows(
            choices.order,
            len(train.rows),
            split_seed=choices.split_seed,
            held_out=choices.held_out,
        )
        self._order = cache(lambda seed: training_order(choices.order, self._rest, seed))
        self._train_row = cache(lambda number: self._render(train, number))
        self._eval_row = cache(lambda number: self._render(evaluation, number))
        self._confirmation = self._scored(_first(evaluation, choices.eval_first), self._eval_row)
        self._search = self._scored(self._search, self._train_row)
        self._digest = cache(lambda seed, step: batch_digest(self.train_batch(seed, step)))

    def order(self, seed: int) -> tuple[RowId, ...]:
        """The ids of the training rows in the order of a seed."""
        return tuple(self.train.rows[number].row_id for number in self._order(seed))

    def order_sha256(self, seed: int) -> Sha256:
        """The digest of that order: the ids as canonical JSON."""
        text = json.dumps(self.order(seed), separators=(",", ":"), ensure_ascii=True)
        return Sha256(hashlib.sha256(text.encode()).hexdigest())

    def steps_available(self) -> int:
        """How many whole batches the training rows give."""
        return len(self._rest) // self.choices.batch_size * self.choices.epochs

    def train_ids(self, seed: int, step: int) -> tuple[RowId, ...]:
        """The ids of the rows of a step, counted from 0."""
        return tuple(self.train.rows[number].row_id for number in self._numbers(seed, step))

    def train_batch(self, seed: int, step: int) -> tuple[Datum, ...]:
        """The datums of a step; the same for every arm of the seed."""
        made = [self._train_row(number).datum for number in self._numbers(seed, step)]
        return tuple(made if self.choices.reduction == "none" else map(mean_weights, made))

    def batch_digest(self, seed: int, step: int) -> Sha256:
        """The digest of that batch."""
        return self._digest(seed, step)

    def schedule(self, seed: int, steps: int) -> tuple[Sha256, ...]:
        """The digests of the first `steps` batches, before anything is trained."""
        return tuple(self.batch_digest(seed, step) for step in range(steps))

    def items(self, kind: ItemKind) -> tuple[RowId, ...]:
        """The ids of the scored rows, in the order of scoring."""
        dataset, numbers, _ = self._items(kind)
        return tuple(dataset.rows[number].row_id for number in numbers)

    def eval_batch(self, kind: ItemKind, start: int, stop: int) -> tuple[Datum, ...]:
        """The datums of the items `start` to `stop` − 1; the weights are always a mask."""
        _, numbers, rendered = self._items(kind)
        return tuple(rendered(number).datum for number in numbers[start:stop])

    def fixed_batch(self, size: int = 4) -> tuple[Datum, ...]:
        """The first training rows of the file that count at least one token.

        It depends on no seed, so every arm and every run of a spec compares on the same batch.
        """
        rendered = (self._train_row(number) for number in range(len(self.train.rows)))
        counted = (made.datum for made in rendered if made.counted_tokens)
        batch = tuple(datum for _, datum in zip(range(size), counted, strict=False))
        if len(batch) == size:
            return batch
        raise UsageError(f"only {len(batch)} training rows count a token; {size} are needed")

    def census(self, seeds: Iterable[int], steps: int) -> dict[str, Census]:
        """Counts of the rows that will be trained on and of the items that will be scored."""
        used = sorted(
            {n for seed in seeds for step in range(steps) for n in self._numbers(seed, step)}
        )
        return {
            "train": self._census(self.train, used, self._train_row),
            "search": self._census(*self._items("search")),
            "confirmation": self._census(*self._items("confirmation")),
        }

    def shared_rows(self) -> tuple[RowId, ...]:
        """Confirmation items whose very text is also among the training or search rows."""
        known = {row.sha256 for row in self.train.rows}
        rows = (self.evaluation.rows[number] for number in self._confirmation)
        return tuple(row.row_id for row in rows if row.sha256 in known)

    def manifest(self) -> dict[str, Any]:
        """Ids and digests of everything, and no text: this part may be published."""
        return {
            "schema": MANIFEST_SCHEMA,
            "rx_version": rx_tools.__version__,
            "choices": _plain(self.choices),
            "renderer": _plain(self.renderer.provenance),
            "train": _split_manifest(self.train),
            "evaluation": _split_manifest(self.evaluation),
            "search": list(self.items("search")),
            "confirmation": list(self.items("confirmation")),
        }

    def _scored(
        self, numbers: tuple[int, ...], rendered: Callable[[int], Rendered]
    ) -> tuple[int, ...]:
        if not self.choices.skip_empty:
            return numbers
        return tuple(number for number in numbers if rendered(number).counted_tokens)

    def _numbers(self, seed: int, step: int) -> tuple[int, ...]:
        choices = self.choices
        return batch_rows(self._order(seed), step, choices.batch_size, choices.epochs)

    def _items(self, kind: ItemKind) -> tuple[Dataset, tuple[int, ...], Callable[[int], Rendered]]:
        if kind == "search":
            return self.train, self._search, self._train_row
        return self.evaluation, self._confirmation, self._eval_row

    def _census(
        self, dataset: Dataset, numbers: Sequence[int], rendered: Callable[[int], Rendered]
    ) -> Census:
        pairs = ((dataset.rows[number], rendered(number)) for number in numbers)
        return take_census(pairs, self.renderer.control_tokens)

    def _render(self, dataset: Dataset, number: int) -> Rendered:
        row = dataset.rows[number]
        try:
            rendered = self.renderer.render(row.chat, self.choices.max_length)
        except DocumentError as error:
            where = f"{dataset.source} {dataset.split} row {row.row_id}"
            raise DocumentError(error.what, where=where, hint=error.hint) from error
        for array in (rendered.datum.tokens, rendered.datum.targets, rendered.datum.weights):
            array.setflags(write=False)
        return rendered


def prepare_data(
    source: str | Path,
    *,
    renderer: str,
    tokenizer: Path | str,
    choices: DataChoices,
    train_split: str = "train",
    eval_split: str = "test",
    implementation: Implementation = "builtin",
) -> PreparedData:
    """Read both splits of a source and make the renderer; see `load_split`, `make_renderer`."""
    if Path(source).is_file():
        raise UsageError(
            "one file cannot hold both splits", where=str(source), hint="give a folder with both"
        )
    made = make_renderer(renderer, tokenizer, implementation)
    train, evaluation = load_split(source, train_split), load_split(source, eval_split)
    return PreparedData(train, evaluation, made, choices)


def mean_weights(datum: Datum) -> Datum:
    """The same datum with weights that sum to 1, as far as float32 goes; all zeros stay zeros."""
    total = np.float32(datum.weights.sum(dtype=np.float64))
    return replace(datum, weights=datum.weights / total) if total > 0 else datum


def _first(dataset: Dataset, first: int | None) -> tuple[int, ...]:
    if first is None:
        return tuple(range(len(dataset.rows)))
    if 0 < first <= len(dataset.rows):
        return tuple(range(first))
    raise UsageError(
        f"the first {first} rows of {dataset.split!r} were asked for; it has {len(dataset.rows)}",
        where=dataset.source,
    )


def _split_manifest(dataset: Dataset) -> dict[str, Any]:
    return {
        "source": dataset.source,
        "split": dataset.split,
        "n_rows": len(dataset.rows),
        "rows_sha256": dataset.rows_sha256,
        "files": dict(dataset.files),
        "rows": [[row.row_id, row.sha256] for row in dataset.rows],
    }


def _plain(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
