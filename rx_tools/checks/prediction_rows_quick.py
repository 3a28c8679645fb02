"""The fast way through a file of predictions: typed, and only where nothing at all is wrong."""

from itertools import groupby
from operator import attrgetter

import msgspec

KEYS = 11
"""Keys of a row: eight of its own, two in `prediction`, one in `reference`."""


class Totals(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The loss of one item."""

    nll_sum: float
    n_tokens: int


class Reference(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What was predicted: the digest of the targets."""

    datum_sha256: str


class PredictionRow(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One prediction of a loss, as `rx` writes it."""

    item_id: str
    arm: str
    metric: str
    evaluator_id: str
    prediction: Totals
    reference: Reference
    seed: int | None
    checkpoint: str | None


DECODER = msgspec.json.Decoder(PredictionRow)


def typed_rows(content: bytes) -> list[PredictionRow] | None:
    """All rows, or nothing where any of them needs a closer look.

    No fast parser refuses a repeated key, so the colons after a quotation mark are counted: one
    for each key, and none elsewhere, because nothing is escaped.
    """
    if b"\\" in content or content[-1:] != b"\n" or b"\n\n" in content:
        return None
    try:
        rows = DECODER.decode_lines(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return rows if content.count(b'":') == KEYS * len(rows) else None


def is_faultless(content: bytes, evaluators: set[str]) -> bool:
    """Whether every row is surely whole; `False` only means that the rows need a closer look."""
    rows = typed_rows(content)
    if not rows:
        return False
    named = {(row.arm, row.metric, row.evaluator_id) for row in rows}
    known = all(a.strip() and m.strip() and e in evaluators for a, m, e in named)
    return known and all(row.item_id.strip() for row in rows)


def totals_by_arm(rows: list[PredictionRow]) -> dict[str, dict[str, tuple[int, float]]]:
    """Arm → item → counted tokens and summed NLL; of a repeated item the last one."""
    found: dict[str, dict[str, tuple[int, float]]] = {}
    for arm, block in groupby(rows, attrgetter("arm")):
        totals = {row.item_id: (row.prediction.n_tokens, row.prediction.nll_sum) for row in block}
        found.setdefault(arm, {}).update(totals)
    return found
