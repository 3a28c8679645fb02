"""What the probes conclude from logprobs with noise: many simulated services, no false answer."""

import math

import numpy as np
import pytest

from rx_tools.runner.probes import null_step, rate_response, restore
from rx_tools.runner.probes.restore import Way
from rx_tools.runner.probes.result import Outcome, ProbeResult, overall
from rx_tools.runner.probes.shares import Sides, direction, share
from rx_tools.runner.service import ModelInfo

TOKENS = 1500
RUNS = 40


class Scene:
    """Logprobs around a base, with noise per token and one offset per forward."""

    def __init__(self, seed, per_token, per_call=0.0):
        self.random = np.random.default_rng(seed)
        self.per_token, self.per_call = per_token, per_call
        self.base = -self.random.exponential(3.0, TOKENS)
        self.step = self.random.standard_normal(TOKENS)

    def forwards(self, moved=0.0, along=None, count=4):
        target = self.base + moved * (self.step if along is None else along)
        return [
            target
            + self.per_token * self.random.standard_normal(TOKENS)
            + self.per_call * self.random.standard_normal()
            for _ in range(count)
        ]

    def sides(self, moved):
        return Sides(self.forwards(), self.forwards(moved))

    def other_direction(self):
        return self.random.standard_normal(TOKENS)


def outcomes(judge, per_token, per_call=0.0, runs=RUNS):
    return {judge(Scene(seed, per_token, per_call)).outcome for seed in range(runs)}


NOISES = [(0.0, 0.0), (1e-4, 0.0), (1e-3, 0.0), (0.1, 0.0), (1e-3, 1e-3), (0.0, 1e-2)]


def null(moved):
    return lambda scene: null_step.judged(scene.sides(moved), scene.sides(2e-3))


@pytest.mark.parametrize("noise", NOISES)
def test_an_honest_null_step_raises_no_alarm(noise):
    assert Outcome.CONTRADICTED not in outcomes(null(0.0), *noise)


@pytest.mark.parametrize("noise", NOISES)
def test_a_fallback_is_never_taken_for_a_null_step(noise):
    assert Outcome.PROVEN not in outcomes(null(2e-3), *noise)


@pytest.mark.parametrize("noise", [(0.0, 0.0), (1e-4, 0.0), (1e-3, 0.0), (1e-3, 1e-4)])
def test_noise_as_large_as_the_movement_hides_nothing(noise):
    assert outcomes(null(0.0), *noise) == {Outcome.PROVEN}
    assert outcomes(null(2e-3), *noise) == {Outcome.CONTRADICTED}


def rates(low, high):
    return lambda scene: rate_response.judged(scene.sides(low), scene.sides(high), 1e-3)


@pytest.mark.parametrize("noise", NOISES)
def test_rates_are_told_apart_or_nothing_is_said(noise):
    assert Outcome.CONTRADICTED not in outcomes(rates(1e-3, 1e-2), *noise)
    assert Outcome.PROVEN not in outcomes(rates(1e-3, 1e-3), *noise)


def test_rates_without_noise_are_decided():
    assert outcomes(rates(1e-3, 1e-2), 1e-4) == {Outcome.PROVEN}
    assert outcomes(rates(1e-3, 1e-3), 1e-4) == {Outcome.CONTRADICTED}


def info(optimizer="dimuon"):
    return ModelInfo("m", 8, "t", {"type": optimizer}, None)


def ways(kind):
    """`kind` says what the restored model does: warm, cold, or something else."""

    def judge(scene):
        cold, other = 2e-3 * scene.other_direction(), 2e-3 * scene.other_direction()
        moved = {"warm": np.zeros(TOKENS), "cold": cold, "other": other}[kind]
        three = (np.zeros(TOKENS), moved, cold)
        ready = [
            Way(scene.forwards(), scene.forwards(1.0, along=each, count=6), info())
            for each in three
        ]
        return restore.judged(*ready, "dimuon")

    return judge


@pytest.mark.parametrize("noise", NOISES)
def test_a_warm_restore_raises_no_alarm_and_a_lost_one_is_never_proven(noise):
    assert Outcome.CONTRADICTED not in outcomes(ways("warm"), *noise)
    assert Outcome.PROVEN not in outcomes(ways("cold"), *noise)


@pytest.mark.parametrize("noise", [(0.0, 0.0), (1e-4, 0.0), (2e-3, 0.0)])
def test_restores_are_decided(noise):
    assert outcomes(ways("warm"), *noise) == {Outcome.PROVEN}
    assert outcomes(ways("cold"), *noise) == {Outcome.CONTRADICTED}


def test_another_optimizer_after_the_restore_is_seen():
    assert outcomes(ways("other"), 1e-4) == {Outcome.CONTRADICTED}


def test_a_wrong_name_after_the_restore_is_a_contradiction():
    scene = Scene(0, 0.0)
    cold = scene.other_direction()
    equal = [Way(scene.forwards(), scene.forwards(count=6), info(k)) for k in ("dimuon", "adamw")]
    apart = Way(scene.forwards(), scene.forwards(1e-2, along=cold, count=6), info())
    answer = restore.judged(*equal, apart, "dimuon")
    assert answer.outcome is Outcome.CONTRADICTED
    assert "the server says adamw" in answer.reasons[0]


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("judge", [null(0.0), rates(1e-3, 1e-2), ways("warm")])
def test_logprobs_that_are_not_finite_prove_nothing(judge, value):
    scene = Scene(0, 1e-4)
    scene.base[7] = value
    with np.errstate(invalid="ignore"):
        assert judge(scene).outcome is not Outcome.PROVEN


def test_a_share_is_the_part_of_the_direction():
    scene = Scene(1, 1e-4)
    along = direction(scene.sides(2e-3))
    held = share(scene.sides(1e-3), along)
    assert along.clear
    assert held.value == pytest.approx(0.5, abs=0.01)
    assert not direction(Scene(2, 0.1).sides(1e-3)).clear


def test_outcomes_combine_without_a_truth_value():
    assert overall([]) is Outcome.UNPROVEN
    assert overall([Outcome.PROVEN, Outcome.UNPROVEN]) is Outcome.UNPROVEN
    assert overall([Outcome.UNPROVEN, Outcome.CONTRADICTED]) is Outcome.CONTRADICTED
    assert overall([Outcome.PROVEN]) is Outcome.PROVEN
    with pytest.raises(TypeError):
        bool(Outcome.PROVEN)
    with pytest.raises(TypeError):
        bool(ProbeResult("x", Outcome.PROVEN, ()))
