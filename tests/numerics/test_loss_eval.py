import math
from array import array
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rx_tools
from rx_tools.numerics.loss_eval import NO_RECORD

SPEC = {"eval": {"metric": "held-out NLL", "aggregation": "token_mean"}}


def arm(*examples, aggregation="token_mean"):
    evaluator = rx_tools.LossEval(aggregation)
    for logprobs, weights in examples:
        evaluator.add(logprobs, weights)
    return evaluator


def test_token_and_example_mean_of_a_long_and_a_short_example():
    record = arm(([-1.0, -2.0, -3.0, -9.0], [0, 1, 1, 0]), ([-4.0], [0.25]), ([-7.0], [0])).record()
    assert record == {
        "aggregation": "token_mean",
        "value": 3.0,
        "token_mean": 3.0,
        "example_mean": 3.25,
        "nll_sum": 9.0,
        "n_tokens": 3,
        "n_examples": 2,
        "n_empty": 1,
    }


def test_example_mean_is_the_value_when_asked_for():
    examples = [([-1.0, -1.0, -1.0], [1, 1, 1]), ([-2.0], [1])]
    assert arm(*examples, aggregation="example_mean").record()["value"] == 1.5
    assert arm(*examples).record()["value"] == 1.25


def test_nothing_counted_gives_no_mean():
    record = arm(([-1.0], [0])).record()
    assert record["value"] is None
    assert (record["n_tokens"], record["n_examples"], record["n_empty"]) == (0, 0, 1)


def test_weights_are_a_mask_whatever_their_size():
    normalised = arm(([-1.0, -2.0], [0.5, 0.5])).record()
    assert normalised == arm(([-1.0, -2.0], [1, 1])).record()
    assert arm(([-1.0, -2.0], [-1, 1])).record()["n_tokens"] == 1


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="2 logprobs but 1 weights"):
        arm(([-1.0, -2.0], [1]))


def test_unknown_aggregation_is_refused():
    with pytest.raises(ValueError, match="aggregation must be one of"):
        rx_tools.LossEval("mean")


def test_a_service_output_is_added_example_by_example():
    output = SimpleNamespace(
        loss_fn_outputs=[
            {"logprobs": SimpleNamespace(data=[-1.0, -2.0])},
            {"logprobs": array("d", [-3.0])},
        ]
    )
    evaluator = rx_tools.LossEval()
    evaluator.add_output(output, [[1, 1], [1]])
    assert evaluator.record()["token_mean"] == 2.0
    with pytest.raises(ValueError):
        evaluator.add_output(output, [[1, 1]])


@given(st.lists(st.floats(-1e6, 0), min_size=1, max_size=40), st.randoms())
def test_the_order_of_examples_changes_no_bit_of_the_token_mean(logprobs, random):
    shuffled = list(logprobs)
    random.shuffle(shuffled)
    straight = arm(*[([one], [1]) for one in logprobs]).record()
    assert straight["token_mean"] == arm(*[([one], [1]) for one in shuffled]).record()["token_mean"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"eval": {"aggregation": "Token-Mean"}}, "token_mean"),
        ({"eval": {"aggregation": "example mean"}}, "example_mean"),
        ({"eval": {"metric": "NLL (nats per assistant token)"}}, "token_mean"),
        ({"eval": {"metric": "per-example loss"}}, "example_mean"),
        ({"eval": {"aggregation": "median", "metric": "nats/token"}}, "token_mean"),
        ({"eval": {"metric": "accuracy"}}, None),
        ({"eval": None}, None),
        (None, None),
    ],
)
def test_requested_aggregation(spec, expected):
    assert rx_tools.requested_aggregation(spec) == expected


def test_loss_metrics_are_known_by_their_words():
    assert rx_tools.is_loss_metric({"eval": {"metric": "Perplexity"}})
    assert not rx_tools.is_loss_metric({"eval": {"metric": "accuracy"}})


def two_arms(**changes):
    report = rx_tools.loss_report(
        "token_mean", {"a": arm(([-1.0, -2.0], [1, 1])), "b": arm(([-2.0, -2.0], [1, 1]))}
    )
    report["arms"]["b"].update(changes)
    return report


def test_an_honest_report_has_no_problem():
    assert rx_tools.loss_check(SPEC, two_arms()) == []


@pytest.mark.parametrize("nothing", [None, [], {}, {"arms": {}}, {"arms": [1]}])
def test_no_record_is_a_problem_only_for_a_loss(nothing):
    assert rx_tools.loss_check(SPEC, nothing) == [NO_RECORD]
    assert rx_tools.loss_check({"eval": {"metric": "accuracy"}}, nothing) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": 2.1}, "arm b: value 2.1 is not the token mean 2 (nll_sum / n_tokens)"),
        ({"token_mean": 2.1}, "arm b: token_mean 2.1 is not nll_sum / n_tokens = 2"),
        ({"token_mean": None}, "arm b: token_mean None is not nll_sum / n_tokens = 2"),
        ({"aggregation": "example_mean"}, "arm b used example_mean, not the run's token_mean"),
        ({"n_tokens": 0}, "arm b: needs numeric value, nll_sum and n_tokens > 0"),
        ({"nll_sum": math.nan}, "arm b: needs numeric value, nll_sum and n_tokens > 0"),
        ({"nll_sum": math.inf}, "arm b: needs numeric value, nll_sum and n_tokens > 0"),
        ({"nll_sum": 10**400}, "arm b: needs numeric value, nll_sum and n_tokens > 0"),
        ({"value": True}, "arm b: needs numeric value, nll_sum and n_tokens > 0"),
        (
            {"n_examples": 3},
            "arms were scored on different tokens or examples: "
            "a 2 tokens / 1 examples, b 2 tokens / 3 examples",
        ),
    ],
)
def test_each_contradiction_has_the_servers_message(changes, message):
    assert message in rx_tools.loss_check(SPEC, two_arms(**changes))


def test_the_wrong_aggregation_is_named():
    spec = {"eval": {"aggregation": "example_mean"}}
    expected = "spec asks for example_mean but the run reported token_mean"
    assert rx_tools.loss_check(spec, two_arms()) == [expected]
    unknown = {**two_arms(), "aggregation": "mean"}
    first = rx_tools.loss_check(SPEC, unknown)[0]
    assert first == "loss_eval aggregation 'mean' is not one of token_mean, example_mean"


def test_an_arm_that_is_no_object_has_no_record():
    report = two_arms()
    report["arms"]["b"] = 2.0
    assert rx_tools.loss_check(SPEC, report) == ["arm b: no loss record"]


def test_the_tolerance_is_relative_1e_6():
    assert rx_tools.loss_check(SPEC, two_arms(value=2.0 * (1 + 9e-7))) == []
    assert rx_tools.loss_check(SPEC, two_arms(value=2.0 * (1 + 2e-6))) != []


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["arms", "a", "value", "nll_sum", "n_tokens", "n_examples", "eval"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_document_makes_the_check_crash(document):
    assert isinstance(rx_tools.loss_check(SPEC, document), list)
    assert isinstance(rx_tools.loss_check(document, {"arms": {"a": document}}), list)
