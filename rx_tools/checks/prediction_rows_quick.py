"""The fast way through a file of predictions: typed, and only where nothing at all is wrong."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import msgspec

from rx_tools.model.evidence import Evidence


class Totals(msgspec.Struct, gc=False, frozen=True, forbid_unknown_fields=True):
    """The loss of one item: how many tokens counted, and their nats in all."""

    n_tokens: int
    nll_sum: float


class Reference(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What was predicted: the digest of the targets."""

    datum_sha256: str


class PredictionRow(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One prediction of a loss, as `rx` writes it: members in the order of their names."""

    arm: str
    checkpoint: str | None
    evaluator_id: str
    item_id: str
    metric: str
    prediction: Totals
    reference: Reference
    seed: int | None


DECODER = msgspec.json.Decoder(PredictionRow)
ENCODER = msgspec.json.Encoder()
IDENTITY = attrgetter("arm", "metric", "evaluator_id")


@dataclass(frozen=True, slots=True)
class Predictions:
    """A file of which every row is whole. `named` are its arms, metrics and evaluators.

    `items` maps arm → item → totals; of an item that an arm has twice the last row counts, and
    the arm is among `repeating`.
    """

    named: frozenset[tuple[str, str, str]]
    items: Mapping[str, Mapping[str, Totals]]
    repeating: frozenset[str]


def quick_predictions(evidence: Evidence, name: str) -> Predictions | None:
    """What a retained file holds, or nothing where any of its rows needs a closer look."""
    rows = typed_rows(evidence[name].read())
    if not rows:
        return None
    named: set[tuple[str, str, str]] = set()
    items: dict[str, dict[str, Totals]] = defaultdict(dict)
    count: dict[str, int] = defaultdict(int)
    for identity, group in groupby(rows, IDENTITY):
        arm, block = identity[0], list(group)
        named.add(identity)
        items[arm].update({row.item_id: row.prediction for row in block})
        count[arm] += len(block)
    repeating = frozenset(arm for arm in count if len(items[arm]) < count[arm])
    return Predictions(frozenset(named), dict(items), repeating)


def typed_rows(content: bytes) -> list[PredictionRow] | None:
    """All rows, or nothing where any of them needs a closer look.

    No fast parser refuses a repeated key or two rows on one line. So the rows are written again:
    where that gives the very same bytes, there was nothing in them that was not read.
    """
    try:
        rows = DECODER.decode_lines(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return rows if ENCODER.encode_lines(rows) == content else None


def is_faultless(evidence: Evidence, name: str, evaluators: set[str]) -> bool:
    """Whether every row is surely whole; `False` only means that the rows need a closer look."""
    found = evidence.once(quick_predictions, name)
    if found is None:
        return False
    known = all(a.strip() and m.strip() and e in evaluators for a, m, e in found.named)
    return known and all(all(map(str.strip, items)) for items in found.items.values())
