import json
from pathlib import Path

import pytest

import rx_tools
from rx_tools.errors import DocumentError

RUN = json.loads(Path("tests/fixtures/exp_9574bbb76e.run.json").read_text())


def test_the_finished_run_reported_an_id_that_its_provenance_does_not_have():
    ((reported, provenance),) = RUN["evaluation"]["evaluators"].items()
    assert reported.startswith("fd0cc0df")
    recomputed = rx_tools.evaluator_id(provenance)
    assert recomputed == "efc41808b55fc4b9296607fb2d3310b916b59231cb6823ce87655ea7998b9c7c"


def test_key_order_does_not_matter_and_everything_else_does():
    provenance = {"parser": "exact", "decoding": {"temperature": 0, "stop": ["\n"]}}
    turned = {"decoding": {"stop": ["\n"], "temperature": 0}, "parser": "exact"}
    assert rx_tools.evaluator_id(provenance) == rx_tools.evaluator_id(turned)
    warmer = {"parser": "exact", "decoding": {"temperature": 0.0, "stop": ["\n"]}}
    assert rx_tools.evaluator_id(provenance) != rx_tools.evaluator_id(warmer)


def test_known_digest_of_a_non_ascii_provenance():
    # printf '{"parser":"caf\\u00e9"}' | sha256sum
    assert rx_tools.evaluator_id({"parser": "café"}) == (
        "1c41b4bad9ad89947180d7432125d4e9a1691ea62ecefefa23a864eb0a188480"
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
def test_a_provenance_that_json_cannot_hold_has_no_identity(value):
    with pytest.raises(DocumentError, match="no identity"):
        rx_tools.evaluator_id({"temperature": value})
