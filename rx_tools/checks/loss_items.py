"""Losses summed from the predictions of single items: the one implementation of it."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rx_tools.checks.prediction_rows_quick import Totals, quick_predictions
from rx_tools.checks.rows import Row, RowError, rows_of
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, is_integer, is_number
from rx_tools.model.record import Record
from rx_tools.numerics.loss_eval import DEFAULT_AGGREGATION, summed

TOLERANCE = 1e-12


@dataclass(frozen=True)
class ArmItems:
    """The items of one arm and their totals."""

    totals: dict[str, Totals] = field(default_factory=dict)

    @cached_property
    def sums(self) -> dict[str, Any]:
        """The loss record of these items, under the default aggregation."""
        nlls = [one.nll_sum for one in self.totals.values()]
        return summed(DEFAULT_AGGREGATION, nlls, list(self.counts.values()))

    def record(self, aggregation: str) -> dict[str, Any]:
        """The loss record of these items under an aggregation."""
        return self.sums | {"aggregation": aggregation, "value": self.sums[aggregation]}

    @cached_property
    def counts(self) -> dict[str, int]:
        """The counted tokens of every item."""
        return {item: one.n_tokens for item, one in self.totals.items()}


@dataclass(frozen=True, slots=True)
class LossItems:
    """Arm → its items; and what is wrong with a file, by its name."""

    arms: dict[str, ArmItems] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    repeating: dict[str, str] = field(default_factory=dict)


def loss_items(record: Record, evidence: Evidence) -> LossItems:
    """The items of the retained predictions that the scores refer to; without any, of all."""
    referred, others = predictions(record, evidence)
    return evidence.once(read_items, referred or others)


def other_items(record: Record, evidence: Evidence) -> LossItems:
    """The items of the retained predictions that no score refers to: those of a search."""
    return evidence.once(read_items, predictions(record, evidence)[1])


def items_by_arm(record: Record, evidence: Evidence) -> dict[str, ArmItems]:
    """The items of every arm that predictions are retained of, compared or not."""
    return {**other_items(record, evidence).arms, **loss_items(record, evidence).arms}


def predictions(record: Record, evidence: Evidence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The retained files of predictions: those that the scores refer to, and the others."""
    scores = as_list(record.section("evaluation").get("scores"))
    refs = [as_object(score).get("predictions_ref") for score in scores]
    retained = [name for name, file in evidence.items() if file.kind == "predictions"]
    referred = tuple(name for name in retained if evidence[name].name in refs)
    return referred, tuple(name for name in retained if name not in referred)


def read_items(evidence: Evidence, names: Iterable[str]) -> LossItems:
    """The items of all arms in these files. Of a repeated one the last counts, and is a fault."""
    found = LossItems()
    for name in names:
        try:
            arms, repeating = items_in(evidence, name)
        except RowError as error:
            found.unreadable[name] = str(error)
            continue
        for arm, totals in arms.items():
            known = found.arms.setdefault(arm, ArmItems()).totals
            if arm in repeating or known.keys() & totals.keys():
                found.repeating[name] = f"holds an item of {arm} twice"
            known.update(totals)
    return found


def items_in(
    evidence: Evidence, name: str
) -> tuple[Mapping[str, Mapping[str, Totals]], Collection[str]]:
    """Arm → item → totals in one file, and the arms of which it repeats an item."""
    quick = evidence.once(quick_predictions, name)
    if quick is not None:
        return quick.items, quick.repeating
    items: dict[str, dict[str, Totals]] = {}
    repeating = set()
    for row in rows_of(evidence[name]):
        totals, arm, item = totals_of(row), row.get("arm"), str(row.get("item_id"))
        if totals is not None and isinstance(arm, str):
            known = items.setdefault(arm, {})
            repeating |= {arm} if item in known else set()
            known[item] = totals
    return items, repeating


def totals_of(row: Row) -> Totals | None:
    """Counted tokens and summed NLL of a row: in its prediction, or beside it."""
    stated = as_object(row.get("prediction")) or row
    n_tokens, nll_sum = stated.get("n_tokens"), stated.get("nll_sum")
    if is_integer(n_tokens) and is_number(nll_sum):
        return Totals(n_tokens, float(nll_sum))
    return None


def differing(stated: JsonObject, summed: JsonObject, keys: Iterable[str]) -> str:
    """The first of these figures that is not stated as it was summed; empty if there is none."""
    return next((key for key in keys if not agree(stated.get(key), summed[key])), "")


def agree(stated: object, summed: object) -> bool:
    """Equality; of floating-point numbers to 1e-12."""
    if isinstance(summed, float) and is_number(stated):
        return math.isclose(stated, summed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(stated) is type(summed) and stated == summed
