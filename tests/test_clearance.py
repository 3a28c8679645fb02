"""A clearance closes again for every single thing that changes, and says which."""

from dataclasses import replace

import pytest

from rx_tools.checks.clearance import Binding, differences
from rx_tools.model.names import Sha256

ISSUED = Binding(
    run_id="run-1",
    spec_sha256=Sha256("a" * 64),
    plan_sha256=Sha256("b" * 64),
    rx_version="0.1.0",
    sdk_version="0.38.0",
    service={"host": "127.0.0.1", "embedded_revision": "r1"},
    evidence={"preflight-activation.json": Sha256("c" * 64)},
)


def test_nothing_changed():
    assert differences(ISSUED.to_json(), ISSUED) == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"run_id": "run-2"}, "run-2"),
        ({"spec_sha256": Sha256("0" * 64)}, "spec was edited"),
        ({"plan_sha256": Sha256("0" * 64)}, "plan was edited"),
        ({"rx_version": "0.2.0"}, "rx is 0.2.0"),
        ({"sdk_version": "0.39.0"}, "SDK is 0.39.0"),
        ({"service": {"host": "other.example"}}, "service changed"),
        ({"evidence": {}}, "preflight-activation.json is missing"),
        ({"evidence": {"preflight-activation.json": Sha256("0" * 64)}}, "edited"),
    ],
)
def test_one_change_is_named(change, says):
    found = differences(ISSUED.to_json(), replace(ISSUED, **change))
    assert len(found) == 1
    assert says in found[0]


def test_an_empty_clearance_binds_nothing_and_opens_nothing():
    assert len(differences({}, ISSUED)) == 6
