"""What can be wrong with a decision: names, codes, and the row of the outcome table each hits."""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

SHOWN_PER_NAME = 20


class Row(IntEnum):
    """The rows of the outcome table; the first that is hit decides."""

    ARMS = 1
    HYPOTHESIS = 2
    RULE = 3
    SOURCE = 4
    ROWS = 5
    MISSING = 6
    SELECTION = 7
    GATES = 8
    SEEDS = 9
    VARIANCE = 10


INCOMPLETE = frozenset({Row.ARMS, Row.MISSING})
"""Rows whose reason is `incomplete_execution`; the others' is `insufficient_evidence`."""

CATALOGUE: dict[str, tuple[str, Row]] = {
    "ARMS_NOT_COMPLETED": ("RX401", Row.ARMS),
    "HYPOTHESIS_NOT_TESTED": ("RX402", Row.HYPOTHESIS),
    "RULE_SCHEMA": ("RX403", Row.RULE),
    "RULE_VERSION": ("RX403", Row.RULE),
    "RULE_UNIT": ("RX404", Row.RULE),
    "RULE_METHOD": ("RX404", Row.RULE),
    "RULE_ALPHA": ("RX405", Row.RULE),
    "RULE_ASSUMPTIONS": ("RX406", Row.RULE),
    "RULE_SEEDS": ("RX407", Row.RULE),
    "RULE_CRITERIA_ID": ("RX408", Row.RULE),
    "RULE_WEIGHTS": ("RX409", Row.RULE),
    "RULE_MARGIN": ("RX410", Row.RULE),
    "RULE_READING": ("RX411", Row.RULE),
    "DECISION_VERSION": ("RX412", Row.SOURCE),
    "OBSERVATIONS_EXACTLY_ONE": ("RX412", Row.SOURCE),
    "OBSERVATIONS_FILE_NAME": ("RX413", Row.SOURCE),
    "OBSERVATIONS_FILE_NOT_RETAINED": ("RX414", Row.SOURCE),
    "OBSERVATIONS_TOO_LARGE": ("RX415", Row.SOURCE),
    "OBSERVATIONS_TOO_MANY": ("RX415", Row.SOURCE),
    "OBSERVATIONS_UNREADABLE": ("RX416", Row.SOURCE),
    "OBS_SCHEMA": ("RX417", Row.ROWS),
    "OBS_SEED_TYPE": ("RX418", Row.ROWS),
    "NONFINITE_VALUE": ("RX419", Row.ROWS),
    "DUPLICATE_OBSERVATION": ("RX420", Row.ROWS),
    "EXTRA_SEED": ("RX421", Row.ROWS),
    "EVALUATOR_MISMATCH": ("RX422", Row.ROWS),
    "EVALUATOR_NOT_RECORDED": ("RX445", Row.ROWS),
    "ITEMS_NOT_EXPLICIT": ("RX439", Row.SOURCE),
    "UNKNOWN_ITEM": ("RX423", Row.ROWS),
    "VALUE_RANGE": ("RX444", Row.ROWS),
    "MISSING_CELL": ("RX424", Row.MISSING),
    "MISSING_ITEM": ("RX425", Row.MISSING),
    "SELECTION_NOT_FROZEN": ("RX426", Row.SELECTION),
    "SELECTION_ITEMS_UNRESOLVED": ("RX427", Row.SELECTION),
    "SEARCH_CONFIRMATION_OVERLAP": ("RX428", Row.SELECTION),
    "NOT_A_CONFIRMATION_ITEM": ("RX429", Row.SELECTION),
    "LR_NOT_IN_GRID": ("RX430", Row.SELECTION),
    "LR_AT_GRID_EDGE": ("RX431", Row.SELECTION),
    "SELECTION_NOT_RECORDED": ("RX427", Row.SELECTION),
    "SELECTION_BUDGETS": ("RX432", Row.SELECTION),
    "GATE_NOT_PASSED": ("RX433", Row.GATES),
    "GATE_ACCEPTED_UNVERIFIED": ("RX434", Row.GATES),
    "TOO_FEW_SEEDS": ("RX435", Row.SEEDS),
    "ZERO_VARIANCE": ("RX436", Row.VARIANCE),
    "NUMERICALLY_CONSTANT": ("RX437", Row.VARIANCE),
    "NOT_REPRESENTABLE": ("RX438", Row.VARIANCE),
}


class Issue(str):
    """One sentence, as the server lists them; with its stable name, code and place.

    `place` names the row, the criterion or the member that the sentence speaks of.
    """

    __slots__ = ("name", "place")
    name: str
    place: str

    def __new__(cls, name: str, message: str, place: str = "") -> "Issue":
        """A sentence under a name of the catalogue."""
        issue = super().__new__(cls, message)
        issue.name, issue.place = name, place
        return issue

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        """What copies and pickles are made from."""
        return self.name, str(self), self.place

    @property
    def code(self) -> str:
        """The code of its manual page."""
        return CATALOGUE[self.name][0]

    @property
    def row(self) -> Row:
        """The row of the outcome table that it hits."""
        return CATALOGUE[self.name][1]


def in_table_order(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """The issues by row of the outcome table; within a row as they were found."""
    return tuple(sorted(issues, key=lambda issue: issue.row))


def shortened(issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """At most twenty issues per name, and then one that states how many there are in all."""
    return tuple(_shortened(issues))


def _shortened(issues: Sequence[Issue]) -> Iterator[Issue]:
    totals: dict[str, int] = {}
    for issue in issues:
        totals[issue.name] = totals.get(issue.name, 0) + 1
        if totals[issue.name] <= SHOWN_PER_NAME:
            yield issue
    for name, total in totals.items():
        if total > SHOWN_PER_NAME:
            yield Issue(name, f"{total} in all; the first {SHOWN_PER_NAME} are listed.")
