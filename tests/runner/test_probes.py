"""The probes against the embedded service over real HTTP, honest and with each fault."""

import json

import pytest
from probe_batches import batch_of

from rx_tools.local.launcher import launch
from rx_tools.runner.probes.result import Outcome
from rx_tools.runner.probes.suite import Questions, run_optimizer_probes
from rx_tools.runner.service import ModelConfig, OptimizerConfig
from rx_tools.runner.wire.tinker_service import TinkerService

MODEL = "rx/tiny-qwen3"
DIMUON = OptimizerConfig("dimuon", {"beta1": 0.9, "grad_clip_norm": 0.0})
ADAMW = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """A function that probes one optimizer on a service with faults; equal questions once."""
    known = {}

    def run(optimizer, faults=(), like=None):
        key = (optimizer.type, *faults, like)
        if key not in known:
            known[key] = report_of(optimizer, faults, like, tmp_path_factory.mktemp("probes"))
        return known[key]

    return run


def report_of(optimizer, faults, like, folder):
    with launch(folder / "store", faults=faults, like=like) as running:
        service = TinkerService(running.base_url, running.api_key)
        config = ModelConfig(MODEL, 8, optimizer, seed=0)
        report = run_optimizer_probes(
            service, config, batch_of(0), Questions(1e-3), folder / "weights"
        )
        service.close()
    return report


def outcomes(report):
    return {result.probe: result.outcome.value for result in report.results}


@pytest.mark.parametrize("optimizer", [DIMUON, ADAMW], ids=lambda each: each.type)
def test_an_honest_service_is_proven_by_every_probe(probed, optimizer):
    report = probed(optimizer)
    assert set(outcomes(report).values()) == {"proven"}, report.as_dict()
    assert report.outcome is Outcome.PROVEN


def test_the_activation_metric_comes_from_the_first_update(probed):
    report = probed(DIMUON)
    (value,) = report.activation.values()
    assert 0.6 <= value <= 1.05


@pytest.mark.parametrize("like", [None, "stock"])
def test_a_dropped_optimizer_is_contradicted(probed, like):
    report = probed(DIMUON, ["drop-optimizer"], like)
    assert report.outcome is Outcome.CONTRADICTED
    assert outcomes(report)["null_step"] == "contradicted"
    assert outcomes(report)["rate_response"] == "contradicted"


@pytest.mark.parametrize(("fault", "like"), [("cold-restore", "stock"), ("adamw-on-restore", None)])
def test_a_restore_that_loses_the_optimizer_is_contradicted(probed, fault, like):
    report = probed(DIMUON, [fault], like)
    assert report.outcome is Outcome.CONTRADICTED
    assert outcomes(report)["restore"] == "contradicted"
    assert outcomes(report)["null_step"] == "proven"


def test_a_cold_adamw_is_contradicted(probed):
    assert outcomes(probed(ADAMW, ["cold-restore"], "stock"))["restore"] == "contradicted"


@pytest.mark.parametrize(("size", "optimizer"), [("drift", DIMUON), ("drift:0.1", ADAMW)])
def test_noise_is_no_false_alarm(probed, size, optimizer):
    report = probed(optimizer, [size], "stock")
    assert report.contradictions == ()
    assert report.outcome is Outcome.UNPROVEN


def test_what_a_stock_service_cannot_show_is_named(probed):
    report = probed(DIMUON, like="stock")
    assert report.outcome is Outcome.UNPROVEN
    gaps = {result.probe for result in report.gaps}
    assert gaps == {
        "first_update", "baseline_update", "reference_update", "second_update", "lr_scaling",
    }  # fmt: skip
    assert all("exports no weights" in result.reasons[0] for result in report.gaps)
    assert report.activation == {}


def test_evidence_is_json_that_names_input_and_service(probed):
    report = probed(ADAMW)
    for name, content in report.files.items():
        document = json.loads(content, parse_constant=lambda text: pytest.fail(text))
        assert document["schema"].startswith("urn:rx:schema:probe")
        assert len(document["batch_sha256"]) == 64, name
        assert len(content) < 10 * 2**20


def test_an_optimizer_that_is_refused_is_contradicted(probed):
    report = probed(OptimizerConfig("lion"))
    assert outcomes(report) == {"echo": "contradicted"}
    assert "refuses lion" in report.results[0].reasons[0]


def test_a_refused_seed_is_no_refused_optimizer(probed):
    assert outcomes(probed(DIMUON, like="stock"))["echo"] == "proven"
