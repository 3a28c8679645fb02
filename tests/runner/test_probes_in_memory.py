"""Optimizers that are subtly wrong, each caught by the probe made for it; and bfloat16 weights."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from optimizers_in_memory import VOCABULARY, Faults, MemoryService

from rx_tools.checks.shape import validator
from rx_tools.errors import DocumentError, IntegrityError, UnverifiedError
from rx_tools.evidence.tensors import load_tensors, safetensors_bytes
from rx_tools.model.gates_of_spec import CorrectnessPath
from rx_tools.model.names import Sha256
from rx_tools.planning.derive import derive
from rx_tools.runner.probes.bench import Bench
from rx_tools.runner.probes.handed_in import handed_in
from rx_tools.runner.probes.measuring import expected_update, open_start
from rx_tools.runner.probes.planned import probe_plan
from rx_tools.runner.probes.references import read_pinned, reference_for
from rx_tools.runner.probes.result import Outcome
from rx_tools.runner.probes.suite import Questions, run_optimizer_probes
from rx_tools.runner.service import Datum, ModelConfig, OptimizerConfig

FIXTURES = Path(__file__).parents[1] / "fixtures"
DIMUON = OptimizerConfig("dimuon", {"beta1": 0.9, "grad_clip_norm": 0.0})
ADAMW = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})
MUON_TABLE = ((3.4445, -4.775, 2.0315),) * 5


def batch():
    random = np.random.default_rng(5)
    return [
        Datum(
            random.integers(0, VOCABULARY, 60),
            random.integers(0, VOCABULARY, 60),
            np.ones(60, np.float32),
        )
        for _ in range(8)
    ]


def report(tmp_path, optimizer, questions=None, **service):
    config = ModelConfig("memory", 8, optimizer, seed=1)
    asked = questions or Questions(1e-3)
    return run_optimizer_probes(MemoryService(**service), config, batch(), asked, tmp_path)


def not_proven(answer):
    return {r.probe: r.outcome.value for r in answer.results if r.outcome is not Outcome.PROVEN}


@pytest.mark.parametrize("optimizer", [DIMUON, ADAMW], ids=lambda each: each.type)
@pytest.mark.parametrize("stored", ["F32", "BF16"])
def test_right_optimizers_are_proven_in_both_stored_types(tmp_path, optimizer, stored):
    answer = report(tmp_path, optimizer, stored=stored)
    missing = not_proven(answer)
    assert "contradicted" not in missing.values(), answer.as_dict()
    assert set(missing) <= ({"second_update"} if stored == "BF16" else set())


WRONG = {
    "half an update": (DIMUON, Faults(scale=0.5), {"reference_update", "baseline_update"}),
    "another matrix sign": (DIMUON, Faults(table=MUON_TABLE), {"reference_update"}),
    "fewer iterations": (
        DIMUON,
        Faults(table=((8.28721201814563, -23.595886519098837, 17.300387312530933),)),
        {"reference_update"},
    ),
    "another momentum": (DIMUON, Faults(override={"beta1": 0.5}), {"second_update"}),
    "another beta1": (ADAMW, Faults(override={"beta1": 0.0}), {"second_update"}),
    "another beta2": (ADAMW, Faults(override={"beta2": 0.0}), {"second_update"}),
    "another epsilon": (ADAMW, Faults(override={"eps": 1.0}), {"baseline_update"}),
    "a cold restore": (ADAMW, Faults(fresh_state=True), {"restore"}),
}


@pytest.mark.parametrize(("optimizer", "faults", "caught_by"), WRONG.values(), ids=WRONG)
def test_a_wrong_optimizer_is_caught_by_its_probe(tmp_path, optimizer, faults, caught_by):
    answer = report(tmp_path, optimizer, faults=faults)
    assert caught_by <= {result.probe for result in answer.contradictions}, answer.as_dict()


def test_a_blind_tolerance_does_not_prove_half_an_update(tmp_path):
    path = CorrectnessPath.of(
        {
            "id": "p",
            "kind": "optimizer",
            "tolerances": {"reference_update": {"atol": 1.0, "rtol": 0.01, "min_cosine": 0.999}},
            "lr_scaling": {"learning_rates": [1e-4, 1e-3], "rtol": 0.01},
        }
    )
    answer = report(tmp_path, DIMUON, Questions(1e-3, path), faults=Faults(scale=0.5))
    result = answer.result("reference_update")
    assert result.outcome is Outcome.CONTRADICTED
    assert "0.5 times the reference's norm" in result.reasons[0]
    assert answer.correctness["errors"]["reference_update"]["relative_l2_error"] == pytest.approx(
        0.5, rel=1e-3
    )


def test_the_evidence_names_every_assumption_of_the_reference(tmp_path):
    named = report(tmp_path, DIMUON).result("reference_update").figures["reference"]
    assert named == reference_for(DIMUON).assumptions
    kept = load_tensors(tmp_path / "reference-inputs.safetensors")
    assert {name.split(":")[0] for name in kept} == {"parameter", "gradient"}
    assert [path.name for path in tmp_path.iterdir()] == ["reference-inputs.safetensors"]


@pytest.mark.parametrize(("stored", "close"), [("F32", 1e-5), ("BF16", 4e-3)])
def test_the_revealed_gradient_is_the_true_one(tmp_path, stored, close):
    service = MemoryService(stored)
    bench = Bench(service, ModelConfig("memory", 8, DIMUON, seed=1), batch(), tmp_path)
    start = open_start(bench)
    model = service.create(bench.config)
    model.load_state(start.uri, with_optimizer=False)
    model.forward_backward(bench.batch)
    for name, found in start.gradient.items():
        true = model.gradient[name]
        assert np.linalg.norm(found - true) <= close * np.linalg.norm(true), name


def pinned_files(tmp_path, start, update, **change):
    tensors = {f"gradient:{name}": values for name, values in start.gradient.items()}
    tensors |= {f"update:{name}": values for name, values in update.items()}
    data = safetensors_bytes(tensors)
    (tmp_path / "updates.safetensors").write_bytes(data)
    document = {
        "schema": "urn:rx:schema:reference-updates:1",
        "optimizer": "dimuon-lite",
        "name": "reconstruction",
        "revision": "abc123",
        "learning_rate": 1e-2,
        "updates": "updates.safetensors",
        "updates_sha256": hashlib.sha256(data).hexdigest(),
    }
    path = tmp_path / "pinned.json"
    path.write_text(json.dumps({**document, **change}))
    return path


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / "start"
    folder.mkdir()
    config = ModelConfig("memory", 8, DIMUON, seed=1)
    return open_start(Bench(MemoryService(), config, batch(), folder))


def test_a_pinned_file_of_updates_is_a_reference(tmp_path, start):
    update = expected_update(start, reference_for(DIMUON), 1e-2)
    path = pinned_files(tmp_path, start, update)
    pinned = handed_in([path]).reference("dimuon")
    asked = Questions(1e-3, reference=pinned)
    answer = report(tmp_path / "right", DIMUON, asked)
    assert answer.result("reference_update").outcome is Outcome.PROVEN
    assert answer.result("second_update").outcome is Outcome.UNPROVEN
    wrong = report(tmp_path / "wrong", DIMUON, asked, faults=Faults(table=MUON_TABLE))
    assert wrong.result("reference_update").outcome is Outcome.CONTRADICTED
    assert pinned.assumptions["revision"] == "abc123"


def test_a_pinned_file_of_another_gradient_proves_nothing(tmp_path, start):
    update = expected_update(start, reference_for(DIMUON), 1e-2)
    pinned = read_pinned(pinned_files(tmp_path, start, update))
    other = {name: 2 * values for name, values in start.gradient.items()}
    with pytest.raises(UnverifiedError, match="another gradient"):
        pinned.update_for(other, 1e-2)
    with pytest.raises(UnverifiedError, match="rate"):
        pinned.update_for(start.gradient, 1e-3)


def test_pinned_files_are_bound_by_their_digest(tmp_path, start):
    path = pinned_files(tmp_path, start, start.gradient, updates_sha256="0" * 64)
    with pytest.raises(IntegrityError):
        read_pinned(path)
    with pytest.raises(DocumentError):
        read_pinned(pinned_files(tmp_path, start, start.gradient, schema="x"))


def test_a_parameter_that_no_reference_knows_is_not_ignored(tmp_path):
    odd = OptimizerConfig("dimuon", {"beta1": 0.9, "nesterov": 1.0})
    answer = report(tmp_path, odd)
    assert answer.result("reference_update").outcome is Outcome.UNPROVEN
    assert "'nesterov'" in answer.result("reference_update").reasons[0]


def test_an_optimizer_without_reference_is_unproven_by_name(tmp_path):
    answer = report(tmp_path, OptimizerConfig("sphere", {"beta1": 0.9}))
    assert answer.result("reference_update").reasons == (
        "there is no reference of sphere: pin one as a file of updates",
    )
    assert answer.result("baseline_update").outcome is Outcome.PROVEN


def test_steps_that_the_server_skips_prove_nothing(tmp_path):
    answer = report(tmp_path, ADAMW, faults=Faults(skips=True))
    gaps = {result.probe: result.reasons[0] for result in answer.gaps}
    assert "skipped the step" in gaps["null_step"]
    assert set(gaps) == {result.probe for result in answer.results} - {"echo"}


@pytest.mark.parametrize("service", [{"loads": False}, {"exports": False}])
def test_a_refused_call_leaves_its_probes_unproven_and_the_others_run(tmp_path, service):
    answer = report(tmp_path, DIMUON, **service)
    assert answer.contradictions == ()
    gaps = {result.probe for result in answer.gaps}
    assert {"reference_update", "second_update"} <= gaps
    assert ("restore" in gaps) == ("loads" in service)
    assert answer.result("null_step").outcome is Outcome.PROVEN


@pytest.mark.parametrize("faults", [Faults(), Faults(skips=True), Faults(scale=0.5)])
def test_a_report_is_what_its_schema_says(tmp_path, faults):
    answer = report(tmp_path, DIMUON, faults=faults)
    document = json.loads(answer.files["probes-dimuon.json"])
    assert list(validator("probes").iter_errors(document)) == []
    assert document["outcome"] == answer.outcome.value


def test_a_plan_with_a_wrong_optimizer_is_contradicted_in_one_line_each(tmp_path):
    spec = json.loads((FIXTURES / "exp_71911f0fb9.spec.json").read_text())
    plan = derive(spec, Sha256("0" * 64), experiment="x").plan
    service = MemoryService(faults=Faults(scale=0.5))
    answer = probe_plan(service, spec, plan, batch(), tmp_path)
    lines = [line for line in answer.contradicted if line.startswith("dimuon: reference_update")]
    assert len(lines) == 1
    assert answer.activation
    (path,) = answer.section["paths"]
    errors = path["errors"]["reference_update"]
    assert errors["relative_l2_error"] == pytest.approx(0.5, rel=5e-2)
