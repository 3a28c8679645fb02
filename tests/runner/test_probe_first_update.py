import numpy as np
import pytest
from tinker import AdamParams, DimuonParams

from rx_tools.numerics.signature import signature_of
from rx_tools.runner.probes import echo, first_update
from rx_tools.runner.probes.references import reference_for
from rx_tools.runner.service import ModelInfo, OptimizerConfig

RANDOM = np.random.default_rng(0)
SIGN = 1e-3 * np.sign(RANDOM.standard_normal((64, 8)))
POLAR = 1e-3 * np.linalg.qr(RANDOM.standard_normal((64, 8)))[0]


def judged(asked, *updates):
    named = {f"l{number}.lora_B": each for number, each in enumerate(updates)}
    return first_update.judged(signature_of(named, 1e-3, 8), asked, 1e-3).outcome.value


@pytest.mark.parametrize(
    ("asked", "updates", "outcome"),
    [
        ("dimuon", [POLAR, POLAR], "proven"),
        ("dimuon-lite", [POLAR], "proven"),
        ("adam", [SIGN, SIGN], "proven"),
        ("dimuon", [SIGN, SIGN], "contradicted"),
        ("adamw", [POLAR], "contradicted"),
        ("dimuon", [POLAR, SIGN], "unproven"),
        ("dimuon", [POLAR, 0.1 * POLAR], "unproven"),
        ("dimuon", [0 * POLAR], "unproven"),
        ("dimuon", [np.full((64, 8), np.nan)], "unproven"),
        ("lion", [SIGN], "unproven"),
    ],
)
def test_the_signature_is_held_against_what_was_asked_for(asked, updates, outcome):
    assert judged(asked, *updates) == outcome


def info(optimizer, observed=None):
    observation = None if observed is None else {"optimizer": {"type": observed}}
    return ModelInfo("m", 8, "t", optimizer, observation)


@pytest.mark.parametrize(
    ("optimizer", "observed", "outcome"),
    [
        ({"type": "dimuon", "version": 1}, None, "proven"),
        (None, "dimuon", "proven"),
        ({"type": "adamw"}, None, "contradicted"),
        ({"type": "dimuon"}, "adamw", "contradicted"),
        (None, None, "unproven"),
        ({}, None, "unproven"),
        ({"type": None}, None, "contradicted"),
    ],
)
def test_no_echo_is_never_a_pass(optimizer, observed, outcome):
    assert echo.judged("dimuon-lite", info(optimizer, observed)).outcome.value == outcome


def test_a_silent_arm_is_compared_with_what_the_sdk_sends():
    for optimizer, sent in (("adamw", AdamParams()), ("dimuon", DimuonParams(learning_rate=1.0))):
        assumed = reference_for(OptimizerConfig(optimizer)).assumptions
        named = {name: value for name, value in sent.model_dump().items() if name in assumed}
        assert len(named) >= 2
        assert {name: assumed[name] for name in named} == named
