"""The two-sided critical value of Student's t, to 1e-12 for every level that a double can state.

`scipy.special.stdtrit` is exact to a few units in the last place between the tails, loses
everything near the median (4e-4 at α = 1 − 2e-7, four degrees of freedom), and gives −∞ below
1e-249 for some. The incomplete beta function serves there; far in the tail its hypergeometric form.
"""

import math

MEDIAN_SIDE = 0.9
FAR_TAIL = math.log(1e-60)
NEWTON_STEPS = 60


def critical_value(alpha: float, df: int, comparisons: int = 1) -> float:
    """t with P(|T| > t) = alpha / comparisons; infinite where no double can hold it.

    `alpha` lies in (0, 1). The level is split as a logarithm, so that it never becomes zero.
    """
    log_level = math.log(alpha) - math.log(comparisons)
    if log_level < FAR_TAIL:
        return _far_tail(log_level, df)
    level = alpha / comparisons
    if level > MEDIAN_SIDE:
        return _near_median(level, df)
    from scipy.special import stdtrit

    return -float(stdtrit(df, level / 2))


def _near_median(level: float, df: int) -> float:
    """With y = t² / (df + t²): I_y(½, df/2) = 1 − level, which is exact near 1."""
    from scipy.special import betaincinv

    y = float(betaincinv(0.5, df / 2, 1 - level))
    return math.sqrt(df * y / (1 - y))


def _far_tail(log_level: float, df: int) -> float:
    """Newton's method on ln I_x(a, ½) over u = ln x, with x = df / (df + t²) and a = df / 2."""
    from scipy.special import betaln, hyp2f1

    a = df / 2
    constant = -math.log(a) - float(betaln(a, 0.5))
    u = (log_level - constant) / a
    for _ in range(NEWTON_STEPS):
        u = min(u, -1e-9)
        x = math.exp(u)
        series = float(hyp2f1(a + 0.5, 1.0, a + 1.0, x))
        log_tail = a * u + 0.5 * math.log1p(-x) + constant + math.log(series)
        step = (log_tail - log_level) * (1 - x) * series / a
        u -= step
        if abs(step) <= 1e-15 * abs(u):
            break
    log_t = 0.5 * (math.log(df) + math.log1p(-math.exp(u)) - u)
    return math.exp(log_t) if log_t < 709 else math.inf
