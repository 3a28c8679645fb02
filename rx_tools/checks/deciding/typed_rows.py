"""The fast way into observation rows: typed, and only where nothing at all is wrong.

No fast parser refuses a repeated key. Here the colons are counted: six per row, and those within
the values. One more, anywhere, and the rows are read again slowly, line by line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import msgspec

from rx_tools.checks.deciding.cell_items import NOTHING, CellItems
from rx_tools.checks.deciding.rule import FrozenRule

COLONS_PER_ROW = 6

cell_of = attrgetter("metric", "arm", "seed")
item_of = attrgetter("item_id")
value_of = attrgetter("value")
evaluator_of = attrgetter("evaluator_id")


class TypedRow(msgspec.Struct, gc=False):
    """One observation as the contract shapes it."""

    item_id: str
    arm: str
    seed: int
    metric: str
    value: float
    evaluator_id: str


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive rows of one cell. `items` is the same object as in the run before if equal."""

    cell: tuple[str, str, int]
    items: tuple[str, ...]
    values: list[float]
    evaluator: str
    one_evaluator: bool


@dataclass(frozen=True, slots=True)
class TypedRows:
    """All rows, in runs."""

    runs: list[Run]
    n: int


def typed_rows(data: bytes) -> TypedRows | None:
    """All rows of JSON Lines or of one array, or None if any of them needs a closer look."""
    first = data.lstrip(b" \t\r\n")[:1]
    try:
        if first == b"[":
            rows = msgspec.json.decode(data, type=list[TypedRow])
        else:
            rows = msgspec.json.Decoder(TypedRow).decode_lines(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    runs = list(runs_of(rows))
    if len({run.cell for run in runs}) < len(runs):
        rows.sort(key=cell_of)
        runs = list(runs_of(rows))
    typed = TypedRows(runs, len(rows))
    return typed if keys_are_single(data, typed) else None


def runs_of(rows: Sequence[TypedRow]) -> Iterator[Run]:
    """The rows in runs of one cell."""
    before: tuple[str, ...] = ()
    for cell, members in groupby(rows, cell_of):
        run = list(members)
        items = tuple(map(item_of, run))
        before = before if items == before else items
        evaluators = list(map(evaluator_of, run))
        one = evaluators.count(evaluators[0]) == len(run)
        yield Run(cell, before, list(map(value_of, run)), evaluators[0], one)


def keys_are_single(data: bytes, rows: TypedRows) -> bool:
    """Whether no row holds a key twice or a key of its own.

    Every row has its six keys, so there are six colons per row at least; the rest must be in the
    values, where none is written as an escape.
    """
    surplus = data.count(b":") - COLONS_PER_ROW * rows.n
    if surplus == 0:
        return True
    if b"\\" in data or not all(run.one_evaluator for run in rows.runs):
        return False
    counts = {id(run.items): "".join(run.items).count(":") for run in rows.runs}
    return surplus == sum(
        counts[id(run.items)] + len(run.items) * shared_colons(run) for run in rows.runs
    )


def shared_colons(run: Run) -> int:
    """Colons in the values that all rows of a run have in common."""
    metric, arm, _ = run.cell
    return metric.count(":") + arm.count(":") + run.evaluator.count(":")


def grouped(rule: FrozenRule, rows: TypedRows) -> dict[tuple[str, str, int], CellItems] | None:
    """Items of every weighted cell, or None if a row is not where it belongs."""
    found: dict[tuple[str, str, int], CellItems] = dict.fromkeys(rule.cells, NOTHING)
    weighted = {(metric, role) for metric, role, _ in rule.cells}
    evaluators: dict[str, str] = {}
    sound: set[int] = set()
    for run in rows.runs:
        metric, role, _ = run.cell
        if (metric, role) not in weighted:
            if not (metric and role):
                return None
            continue
        evaluator = evaluators.setdefault(metric, run.evaluator)
        if not (run.one_evaluator and run.evaluator == evaluator and evaluator):
            return None
        if found.get(run.cell) is not NOTHING:
            return None
        if id(run.items) not in sound and not are_different_names(run.items):
            return None
        sound.add(id(run.items))
        found[run.cell] = CellItems(run.items, run.values)
    return found


def are_different_names(items: Sequence[str]) -> bool:
    """Whether no item is empty or repeated."""
    names = set(items)
    return len(names) == len(items) and "" not in names
