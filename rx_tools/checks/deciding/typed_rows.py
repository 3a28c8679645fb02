"""The fast way into observation rows: typed, and only where nothing at all is wrong.

No fast parser refuses a repeated key. Here the colons are counted: six per row, and those within
the values. One more, anywhere, and the rows are read again slowly, line by line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, cast

import msgspec

from rx_tools.checks.deciding.cell_items import NOTHING, CellItems
from rx_tools.checks.deciding.rule import FrozenRule

COLONS_PER_ROW = 6

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

run_of = attrgetter("metric", "evaluator_id", "arm", "seed")
arm_and_seed = attrgetter("arm", "seed")
item_of = attrgetter("item_id")
value_of = attrgetter("value")


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
    """Consecutive rows of one cell and evaluator.

    `items` is the same object as in the run before if it is equal.
    """

    cell: tuple[str, str, int]
    evaluator: str
    items: tuple[str, ...]
    values: list[float]


@dataclass(frozen=True, slots=True)
class TypedRows:
    """All rows, in runs."""

    runs: list[Run]
    n: int


def typed_rows(data: bytes) -> TypedRows | None:
    """All rows of JSON Lines or of one array, or None if any of them needs a closer look."""
    try:
        rows = alike_rows(data)
        runs = list(runs_of(rows, alike=True))
        if not rows:
            rows = any_rows(data)
            runs = list(runs_of(rows))
    except UNREADABLE:
        return None
    if len({run.cell for run in runs}) < len(runs):
        rows.sort(key=run_of)
        runs = list(runs_of(rows))
    typed = TypedRows(runs, len(rows))
    laid_out = is_array(data) or fill_their_lines(data, typed.n)
    return typed if laid_out and keys_are_single(data, typed) else None


def is_array(data: bytes) -> bool:
    """Whether one array holds all rows."""
    return data.lstrip(b" \t\r\n")[:1] == b"["


def fill_their_lines(data: bytes, rows: int) -> bool:
    """Whether every row begins a line and no line is left over.

    No parser of lines refuses two rows on one line, or one on two.
    """
    begun = data.startswith(b"{") + data.count(b"\n{")
    ended = data.count(b"\n") + (not data.endswith(b"\n"))
    return begun == ended == rows


def any_rows(data: bytes) -> list[TypedRow]:
    """The rows of an array or of JSON Lines, in the order of the file."""
    if is_array(data):
        return msgspec.json.decode(data, type=list[TypedRow])
    return msgspec.json.Decoder(TypedRow).decode_lines(data)


def alike_rows(data: bytes) -> list[TypedRow]:
    """JSON Lines that share metric and evaluator, a third quicker; empty if they do not."""
    head = data[: data.find(b"\n") + 1 or None]
    try:
        (first,) = msgspec.json.Decoder(TypedRow).decode_lines(head)
        return msgspec.json.Decoder(row_like(first)).decode_lines(data)
    except (*UNREADABLE, ValueError):
        return []


def row_like(first: TypedRow) -> type[TypedRow]:
    """A row with the metric and the evaluator of another one."""
    shared = {"metric": first.metric, "evaluator_id": first.evaluator_id}
    fields = [
        (name, Literal[shared[name]] if name in shared else kind)
        for name, kind in TypedRow.__annotations__.items()
    ]
    return cast(type[TypedRow], msgspec.defstruct("AlikeRow", fields, gc=False))


def runs_of(rows: Sequence[TypedRow], *, alike: bool = False) -> Iterator[Run]:
    """The rows in runs; `alike` ones share metric and evaluator, which spares comparing them."""
    shared: tuple[Any, ...] = (rows[0].metric, rows[0].evaluator_id) if alike and rows else ()
    before: tuple[str, ...] = ()
    for key, members in groupby(rows, arm_and_seed if shared else run_of):
        metric, evaluator, arm, seed = (*shared, *key)
        run = list(members)
        items = tuple(map(item_of, run))
        before = before if items == before else items
        yield Run((metric, arm, seed), evaluator, before, list(map(value_of, run)))


def keys_are_single(data: bytes, rows: TypedRows) -> bool:
    """Whether no row holds a key twice or a key of its own.

    Every row has its six keys, so there are six colons per row at least; the rest must be in the
    values, where none is written as an escape.
    """
    surplus = data.count(b":") - COLONS_PER_ROW * rows.n
    if surplus == 0:
        return True
    if b"\\" in data:
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
        if run.evaluator != evaluator or not evaluator or found.get(run.cell) is not NOTHING:
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
