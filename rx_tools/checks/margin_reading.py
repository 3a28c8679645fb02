"""How the prose of a spec reads its margin: what does an interval below it mean?"""

import re

MINUS = "-\u2212\u2013"
NUMBER = r"\d+(?:\.\d+)?(?:e-?\d+)?"
BELOW = re.compile(rf"below\s+([{MINUS}]?)\s*({NUMBER})", re.IGNORECASE)
ABOVE = re.compile(rf"(?:above|exceeds?|at least)\s+\+?({NUMBER})", re.IGNORECASE)

MARGIN, BAND = "margin", "band"


def reading_of(criterion: str, margin: float) -> str | None:
    """`band` where failure is stated below −margin, `margin` where below it, else `None`.

    A margin that is not positive has no band around zero, so it can only be read as a margin.
    """
    if not margin > 0:
        return MARGIN
    signs = {bool(sign) for sign, number in BELOW.findall(criterion) if float(number) == margin}
    if len(signs) != 1:
        return None
    return BAND if signs.pop() else MARGIN


def thresholds(criterion: str) -> set[float]:
    """The numbers that the prose says the interval must lie above."""
    return {float(number) for number in ABOVE.findall(criterion)}
