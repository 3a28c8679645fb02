"""The probes of a real spec's plan, on the embedded service."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from probe_batches import batch_of

from rx_tools.errors import DocumentError
from rx_tools.local.launcher import launch
from rx_tools.model.names import Sha256
from rx_tools.numerics.tolerance import Tolerance
from rx_tools.planning.derive import derive
from rx_tools.planning.rehearsal import Stage, derived_spec
from rx_tools.runner.probes.elsewhere import read_foreign
from rx_tools.runner.probes.handed_in import Beside, handed_in
from rx_tools.runner.probes.planned import probe_plan, section_of, unmeasured_paths
from rx_tools.runner.probes.result import Outcome
from rx_tools.runner.wire.tinker_service import TinkerService

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="module")
def specs():
    stage = Stage("rx/tiny-qwen3", "built-in", "rx-local/test")
    return {
        name: derived_spec(
            json.loads((FIXTURES / f"{name}.spec.json").read_text()), Sha256("0" * 64), stage
        )
        for name in ("exp_71911f0fb9", "exp_9574bbb76e")
    }


def probed(spec, folder, beside=None, **service):
    plan = derive(spec, Sha256("0" * 64), experiment="x").plan
    more = {} if beside is None else {"beside": beside}
    with launch(folder / "store", **service) as running:
        client = TinkerService(running.base_url, running.api_key)
        answer = probe_plan(client, spec, plan, batch_of(3), folder / "work", **more)
        client.close()
    return answer


@pytest.fixture(scope="module")
def honest(specs, tmp_path_factory):
    return probed(specs["exp_71911f0fb9"], tmp_path_factory.mktemp("honest"))


def test_every_optimizer_of_the_plan_is_proven(honest):
    assert [report.optimizer for report in honest.reports] == ["adamw", "dimuon"]
    assert honest.contradicted == ()
    assert honest.unproven == ()


def test_the_section_answers_every_tolerance_of_the_spec(honest, specs):
    assert honest.section["required"] is True
    (path,) = honest.section["paths"]
    (planned,) = specs["exp_71911f0fb9"]["correctness_preflight"]["paths"]
    assert path["id"] == planned["id"]
    for name, limits in planned["tolerances"].items():
        assert Tolerance(**limits).accepts(path["errors"][name]), name
    rates = [probe["learning_rate"] for probe in path["lr_scaling"]]
    assert rates == planned["lr_scaling"]["learning_rates"]
    assert len(path["fixed_input"]["sha256"]) == 64


def test_the_stock_experiment_has_no_path(specs, tmp_path):
    answer = probed(specs["exp_9574bbb76e"], tmp_path, like="stock")
    assert answer.section == {"required": False, "paths": []}
    assert [report.optimizer for report in answer.reports] == ["adamw"]
    assert answer.contradicted == ()


def test_what_was_measured_elsewhere_is_taken_in_and_marked(honest, specs, tmp_path):
    for name, data in honest.files.items():
        (tmp_path / name).write_bytes(data)
    foreign = read_foreign(tmp_path / "probes-dimuon.json")
    assert foreign.optimizer == "dimuon"
    spec = specs["exp_71911f0fb9"]
    answer = probed(spec, tmp_path, Beside({"dimuon": foreign}, {}, {}), like="stock")
    report = answer.reports[1]
    borrowed = report.result("reference_update")
    assert borrowed.outcome is Outcome.PROVEN
    assert not borrowed.measured_here
    assert borrowed.reasons[0].startswith("not measured here, but at 127.0.0.1: ")
    assert report.result("null_step").measured_here
    (path,) = answer.section["paths"]
    assert path["errors"] == honest.section["paths"][0]["errors"]
    assert path["note"] == "not measured here"


def test_a_path_that_no_optimizer_implements_is_named():
    paths = [{"id": "focal", "kind": "loss"}, {"id": "dimuon", "kind": "optimizer"}]
    lines = unmeasured_paths({"correctness_preflight": {"paths": paths}}, {"paths": []})
    assert [line.split(":")[0] for line in lines] == ["path focal", "path dimuon"]


def test_a_section_that_was_measured_elsewhere_stands_in_for_its_path(specs, tmp_path):
    (tmp_path / "preflight.json").write_text('{"required": true, "paths": [{"id": "focal"}]}')
    beside = handed_in([tmp_path / "preflight.json"])
    spec = {**specs["exp_71911f0fb9"]}
    spec["correctness_preflight"] = {"required": True, "paths": [{"id": "focal", "kind": "loss"}]}
    section = section_of(spec, [], beside)
    assert section["paths"] == [{"id": "focal", "note": "not measured here"}]
    assert unmeasured_paths(spec, section) == ()


def test_another_document_cannot_be_handed_in(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(DocumentError, match="neither a report"):
        handed_in([tmp_path / "x.json"])


def test_another_file_is_no_report(tmp_path):
    (tmp_path / "x.json").write_text('{"schema": "urn:rx:schema:plan:1"}')
    with pytest.raises(DocumentError, match="not a report of probes"):
        read_foreign(tmp_path / "x.json")


def test_a_second_report_of_one_type_keeps_its_own_file(honest):
    first = honest.reports[0]
    twice = replace(honest, reports=(first, replace(first, files={"probes-adamw.json": b"other"})))
    assert set(twice.files) == {"probes-adamw.json", "probes-adamw-2.json", "probes-input.json"}
