"""The record of a run with a selection names the evaluator of the search too."""

from making import Made, digest

from rx_tools.runner.whole.record import assemble


def test_every_evaluator_that_scored_is_recorded(tmp_path):
    made = Made(tmp_path / "run", "exp_71911f0fb9").preflight()
    search = digest("search evaluator")
    made.say("evaluator_frozen", evaluator_id=search, items="search", provenance={"parser": "x"})
    record = assemble(made.run, made.ledger.lines, "Two evaluators are frozen.")
    assert set(record["evaluation"]["evaluators"]) == {made.evaluator, search}
