import pytest

import rx_tools
from rx_tools.numerics.bounded import clopper_pearson, empirical_bernstein, hoeffding


def rule(method, weights, margin=0.0, **more):
    return {
        "version": 1,
        "unit": "item",
        "seeds": [0],
        "alpha": 0.05,
        "method": method,
        "assumptions": {"independent_items": True},
        "criteria": [{"id": "c", "metric": "m", "weights": weights, "margin": margin}],
    } | more


def rows(**roles):
    return [
        {
            "item_id": f"i{index}",
            "arm": role,
            "seed": 0,
            "metric": "m",
            "value": value,
            "evaluator_id": "e",
        }
        for role, values in roles.items()
        for index, value in enumerate(values)
    ]


def test_clopper_pearson_on_one_role():
    decision = rx_tools.decide(rule("clopper_pearson", {"a": 1}, 0.4), rows(a=[1] * 8 + [0] * 2))
    expected = clopper_pearson(8, 10, 0.05)
    (criterion,) = decision.criteria
    assert (criterion.low, criterion.high, criterion.n) == (expected.low, expected.high, 10)
    assert decision.verdict == "supported"


def test_mcnemar_counts_discordant_items():
    a, b = [1] * 12 + [0] * 2 + [1] * 20, [0] * 12 + [1] * 2 + [1] * 20
    decision = rx_tools.decide(rule("mcnemar_exact", {"a": 1, "b": -1}), rows(a=a, b=b))
    assert decision.verdict == "supported"
    assert decision.criteria[0].low == clopper_pearson(12, 14, 0.05).low - 0.5
    assert rx_tools.decide(rule("mcnemar_exact", {"a": -1, "b": 1}), rows(a=a, b=b)).verdict == (
        "refuted"
    )


def test_bounded_contrasts():
    a, b = [0.75, 0.5, 1.0] * 100, [0.25, 0.25, 0.5] * 100
    contrasts = [x - y for x, y in zip(a, b, strict=True)]
    for method, function in [
        ("hoeffding", hoeffding),
        ("empirical_bernstein", empirical_bernstein),
    ]:
        decision = rx_tools.decide(rule(method, {"a": 1, "b": -1}, 0.1), rows(a=a, b=b))
        expected = function(contrasts, 2.0, 0.05)
        (criterion,) = decision.criteria
        assert (criterion.low, criterion.high) == (expected.low, expected.high)
        assert decision.verdict == "supported"


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        (rule("clopper_pearson", {"a": 2}), "RULE_WEIGHTS"),
        (rule("mcnemar_exact", {"a": 1}), "RULE_WEIGHTS"),
        (rule("mcnemar_exact", {"a": 1, "b": -1}, 0.02), "RULE_MARGIN"),
        (rule("hoeffding", {"a": 1}, value_range=[0, 0.5]), "VALUE_RANGE"),
        (rule("hoeffding", {"a": 1}, value_range=[1, 0]), "RULE_SCHEMA"),
        (rule("paired_t", {"a": 1}), "RULE_METHOD"),
        (rule("hoeffding", {"a": 1}, unit="training_seed"), "RULE_METHOD"),
        (rule("hoeffding", {"a": 1}, assumptions={"independent_items": False}), "RULE_ASSUMPTIONS"),
        (rule("hoeffding", {"a": 1}, assumptions=None), "RULE_ASSUMPTIONS"),
    ],
)
def test_a_method_that_does_not_fit_decides_nothing(changed, name):
    decision = rx_tools.decide(changed, rows(a=[0, 1, 1], b=[1, 0, 1]))
    assert decision.verdict == "inconclusive"
    assert name in {issue.name for issue in decision.issues}


def test_a_share_is_no_success():
    decision = rx_tools.decide(rule("clopper_pearson", {"a": 1}), rows(a=[0.5, 1, 0]))
    assert {issue.name for issue in decision.issues} == {"VALUE_RANGE"}


def test_means_are_no_items():
    means = {"m": {"a": {0: 0.8}}}
    decision = rx_tools.decide(rule("clopper_pearson", {"a": 1}), seed_means=means)
    assert (decision.verdict, decision.criteria) == ("inconclusive", ())
    assert decision.issues


@pytest.mark.parametrize("method", ["hoeffding", "empirical_bernstein", "clopper_pearson"])
@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 0.9999999999999999])
def test_no_level_raises(method, alpha):
    decision = rx_tools.decide(rule(method, {"a": 1}, alpha=alpha), rows(a=[0, 1, 1]))
    assert decision.verdict in ("inconclusive", "supported")


def test_values_beyond_the_doubles_are_refused():
    wide = rule("hoeffding", {"a": 3e307}, value_range=[-1e308, 1e308])
    decision = rx_tools.decide(wide, rows(a=[1e308, 1e308, -1e308]))
    assert {issue.name for issue in decision.issues} == {"NOT_REPRESENTABLE"}
