"""The waiting policy: 1, 2, 4 minutes; 10 minutes before any comparison step, 30 after."""

import pytest

from rx_tools.runner.service import CapacityError
from rx_tools.runner.wire.capacity import CapacityBlockedError, CapacityPolicy
from tests.runner.workshop import FakeTime


class Full:
    """A service that is full for a number of tries, each of which takes a while."""

    def __init__(self, times: int, time: FakeTime, takes: float = 0.0) -> None:
        self.left, self.time, self.takes = times, time, takes

    def __call__(self) -> str:
        self.time.now += self.takes
        if self.left > 0:
            self.left -= 1
            raise CapacityError("429 trainer capacity exhausted")
        return "done"


def policy(time: FakeTime, steps: int = 0) -> CapacityPolicy:
    return CapacityPolicy(time.clock, time.sleep, lambda: steps)


def test_the_pauses_are_one_two_and_four_minutes() -> None:
    time = FakeTime()
    assert policy(time).attempt(Full(3, time)) == "done"
    assert time.sleeps == [60, 120, 240]


def test_before_any_step_ten_minutes_are_enough_and_the_block_says_so() -> None:
    time = FakeTime()
    with pytest.raises(CapacityBlockedError) as raised:
        policy(time).attempt(Full(99, time))
    assert time.sleeps == [60, 120, 240, 180] and time.now == 600
    assert raised.value.block(released_clients=True) == {
        "error": "429 trainer capacity exhausted",
        "comparison_steps_completed": 0,
        "released_clients": True,
    }


def test_after_a_step_the_run_keeps_trying_for_thirty_minutes() -> None:
    time = FakeTime()
    with pytest.raises(CapacityBlockedError, match="17 comparison steps"):
        policy(time, steps=17).attempt(Full(99, time))
    assert time.now == 1800 and max(time.sleeps) == 240


def test_slow_refusals_count_towards_the_limit() -> None:
    time = FakeTime()
    with pytest.raises(CapacityBlockedError):
        policy(time).attempt(Full(99, time, takes=200))
    assert time.now <= 600 + 2 * 200


def test_a_success_between_two_shortages_starts_the_count_anew() -> None:
    time = FakeTime()
    episode = policy(time).episode()
    for _ in range(5):
        episode.wait(CapacityError("503"))
        episode.wait(CapacityError("503"))
        episode.over()
    assert time.sleeps == [60, 120] * 5


def test_every_pause_is_told_before_it_begins() -> None:
    time = FakeTime()
    told: list[tuple[float, float]] = []
    waiting = CapacityPolicy(
        time.clock, time.sleep, lambda: 0, lambda error, seconds: told.append((time.now, seconds))
    )
    waiting.attempt(Full(2, time))
    assert told == [(0.0, 60.0), (60.0, 120.0)]
