"""Order and counts, derived from positions in the ledger."""

import pytest

from rx_tools.evidence.ledger_line import LedgerLine
from rx_tools.evidence.timeline import NEVER, timeline


def history(*events):
    """Lines from (event, data) pairs; positions count from 1."""
    lines = [
        LedgerLine(data, event, {}, "0" * 64, "run", seq, "t", "1" * 64)
        for seq, (event, data) in enumerate(events, 1)
    ]
    return timeline(lines)


def arm(event, **data):
    return event, {"arm": "a", **data}


START = arm("arm_started", attempt=1, clearance=1)


def update(step):
    return arm("update_acknowledged", step=step, batch_sha256=f"batch {step}", learning_rate=0.1)


def restored(number, step, discarded):
    return arm("arm_restored", restore=number, step=step, discarded=discarded, uri="u")


def restored_and_seen(number, step, discarded):
    event, data = restored(number, step, discarded)
    return event, {**data, "optimizer": {"actual": {"type": "adamw"}}}


def checked(after):
    return arm("optimizer_checked", after_restore=after)


def test_replayed_updates_count_once_among_the_surviving_ones():
    found = history(
        START,
        *map(update, (0, 1, 2)),
        arm("checkpoint_saved", step=3, uri="u"),
        update(3),
        restored(1, 3, 1),
        update(3),
        arm("arm_finished", steps=4, uri="u"),
    ).arm("a")
    assert not found.faults
    assert (found.surviving, len(found.updates), len(found.restores)) == (4, 5, 1)
    assert sorted(found.batches) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ([update(0)], "before the arm was started"),
        ([START, update(1)], "step 1 where 0 was due"),
        ([START, update(0), update(0)], "step 0 where 1 was due"),
        ([START, update(True)], "step True where 0 was due"),
        ([START, update(0), restored(2, 0, 1)], "restore 2 where 1 was due"),
        ([START, update(0), restored(1, 0, 0)], "discarded 0 where 1 was due"),
        ([START, update(0), restored(1, 2, 0)], "restored 2 updates of 1"),
        ([START, arm("checkpoint_saved", step=1, uri="u")], "step 1 where 0 was due"),
        ([START, arm("arm_finished", steps=1)], "steps 1 where 0 was due"),
        ([START, arm("arm_finished", steps=0), update(0)], "after the arm was finished"),
    ],
)
def test_what_does_not_fit_together_is_named_with_its_line(events, fault):
    faults = history(*events).arm("a").faults
    assert len(faults) == 1
    assert fault in faults[0]
    assert faults[0].startswith(f"line {len(events)}: ")


def test_an_optimizer_check_counts_only_between_its_restore_and_the_next_update():
    early = history(START, checked(0), update(0), checked(1), restored(1, 0, 1), update(0))
    assert early.arm("a").checked(0)
    assert not early.arm("a").checked(1)
    late = history(START, update(0), checked(0), restored(1, 0, 1), update(0), checked(1))
    assert not late.arm("a").checked(0)
    assert not late.arm("a").checked(1)
    right = history(START, update(0), restored(1, 0, 1), checked(1), update(0))
    assert right.arm("a").checked(1)
    assert not right.arm("a").checked(2)


def test_the_selection_must_be_frozen_before_a_confirmation_arm_starts():
    frozen = ("selection_frozen", {})
    assert history(frozen, START).selection_frozen_before(["a"])
    assert not history(START, frozen).selection_frozen_before(["a"])
    assert not history(START).selection_frozen_before(["a"])
    assert history(frozen).selection_frozen_before(["a"])


def test_the_evaluator_must_be_frozen_before_scoring():
    frozen, scored = ("evaluator_frozen", {}), arm("arm_scored")
    assert history(frozen, scored).evaluator_frozen_before_scoring()
    assert not history(scored, frozen).evaluator_frozen_before_scoring()
    assert history(START).first("evaluator_frozen") == NEVER


def test_batches_are_compared_step_by_step():
    both = [START, update(0), update(1)]
    other = [(event, data | {"arm": "b"}) for event, data in both]
    assert history(*both, *other).batch_match([("a", "b")]) == 1.0
    assert history(*both, *other[:2]).batch_match([("a", "b")]) == 0.5
    assert history().batch_match([("a", "b")]) is None


@pytest.mark.parametrize("nothing", [{}, None, True, "adamw"])
def test_a_restore_that_shows_nothing_of_its_optimizer_is_unchecked(nothing):
    event, data = restored(1, 0, 1)
    found = history(START, update(0), (event, {**data, "optimizer": nothing}), update(0))
    assert not found.arm("a").checked(1)


def test_a_restore_that_shows_its_optimizer_is_checked_by_its_own_line():
    seen = history(START, update(0), restored_and_seen(1, 0, 1), restored(2, 0, 0), update(0))
    assert seen.arm("a").checked(1)
    assert not seen.arm("a").checked(2)
