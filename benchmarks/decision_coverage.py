"""A/A simulation: both roles alike, so every definitive verdict is an error.

Three criteria on one set of seeds; the share of runs in which all intervals cover the true effect
must reach 95 % within Monte-Carlo error, and with independent criteria it must not exceed what
Bonferroni gives: (1 − α/3)³ = 95.08 %. One criterion must come to 95 % itself. Run with
`python benchmarks/decision_coverage.py`.
"""

import math
import random
import sys

from rx_tools.checks.deciding.decide import decide

RUNS, SEEDS, SIGMAS = 6000, 3, 4.0
ASSUMED = {
    "independent_seed_effects": True,
    "identically_distributed_seed_effects": True,
    "normal_seed_effects": True,
}


def rule(criteria: int) -> dict[str, object]:
    """A rule with a margin of zero, so that any verdict but inconclusive is false."""
    return {
        "version": 1,
        "unit": "training_seed",
        "seeds": list(range(SEEDS)),
        "alpha": 0.05,
        "method": "paired_t",
        "assumptions": ASSUMED,
        "criteria": [
            {"id": f"c{k}", "metric": f"m{k}", "weights": {"a": 1, "b": -1}, "margin": 0.0}
            for k in range(criteria)
        ],
    }


def simulate(criteria: int, common: float, draw: random.Random) -> tuple[float, float]:
    """Shares of runs with all intervals covering zero, and of definitive verdicts.

    `common` is the correlation of the criteria's effects.
    """
    frozen, covered, definitive = rule(criteria), 0, 0
    for _ in range(RUNS):
        shared = [draw.gauss(0, 1) for _ in range(SEEDS)]
        means = {
            f"m{k}": {
                role: {
                    seed: 2.3
                    + 0.004
                    * (math.sqrt(common) * shared[seed] + math.sqrt(1 - common) * draw.gauss(0, 1))
                    * (role == "a")
                    for seed in range(SEEDS)
                }
                for role in ("a", "b")
            }
            for k in range(criteria)
        }
        decision = decide(frozen, seed_means=means)
        covered += all(c.low <= 0 <= c.high for c in decision.criteria)
        definitive += decision.verdict != "inconclusive"
    return covered / RUNS, definitive / RUNS


def main() -> None:
    """Print the shares; exit 1 when one is off by more than four standard errors."""
    draw, good = random.Random(20261129), True
    for criteria, common, expected in (
        (1, 0.0, 0.95),
        (3, 0.0, (1 - 0.05 / 3) ** 3),
        (3, 0.9, None),
    ):
        covered, definitive = simulate(criteria, common, draw)
        error = math.sqrt(0.95 * 0.05 / RUNS)
        low = covered >= 0.95 - SIGMAS * error
        high = expected is None or covered <= expected + SIGMAS * error
        good = good and low and high
        print(
            f"{criteria} criteria, correlation {common:g}: joint coverage {covered:.2%}"
            f" (standard error {error:.2%}), false definitive verdicts {definitive:.2%}"
        )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
