"""Whether an independent answer agrees with a label, exactly."""

import re
from fractions import Fraction

from rx_tools.model.json import is_integer, is_number

NUMERIC, CATEGORICAL = "numeric_exact", "categorical_exact"
STRATEGIES = (NUMERIC, CATEGORICAL)

SIGNED = r"[+-]?[0-9]{1,400}"
DECIMAL = re.compile(rf"{SIGNED}(?:\.[0-9]{{1,400}})?(?:[eE][+-]?[0-9]{{1,3}})?")
FRACTION = re.compile(rf"{SIGNED}/[0-9]{{1,400}}")


def answer_agreement(label: object, answer: object, strategy: object) -> bool | None:
    """Whether two answers are the same; `None` where the strategy cannot tell.

    `numeric_exact` takes finite numbers, decimals such as `-1.5e3` and fractions such as `3/4`, and
    compares their exact values. `categorical_exact` takes non-empty strings, compared character by
    character. Source: contract, section 10.
    """
    if strategy == NUMERIC:
        left, right = exact_number(label), exact_number(answer)
        return None if left is None or right is None else left == right
    if strategy == CATEGORICAL:
        usable = isinstance(label, str) and isinstance(answer, str) and label and answer
        return label == answer if usable else None
    return None


def exact_number(value: object) -> Fraction | None:
    """The exact value of a number as it is written; a JSON number means its shortest decimal."""
    if is_integer(value):
        return Fraction(value)
    if is_number(value):
        return Fraction(repr(value))
    if not isinstance(value, str):
        return None
    if DECIMAL.fullmatch(value):
        return Fraction(value)
    if FRACTION.fullmatch(value) and value.partition("/")[2].strip("0"):
        return Fraction(value)
    return None
