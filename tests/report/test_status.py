"""`rx status` at every stage of a run."""

import pytest
from calling import rx, rx_json
from making import Made

from rx_tools.evidence.run_dir import RunDir
from rx_tools.report.run_view import look


@pytest.fixture
def made(tmp_path):
    run = Made(tmp_path / "a run")
    yield run
    run.close()


def seen(made):
    return look(RunDir(made.place))


def arm(made, index):
    return seen(made).arms[index]


def test_a_run_that_has_only_a_plan(made):
    view = seen(made)
    assert view.phase == "planned"
    assert {gate.status for gate in view.gates} == {"pending", "not_applicable"}
    assert {one.state for one in view.arms} == {"planned"}
    assert view.verdict == ""


def test_a_closed_gate_says_why_and_what_to_do(made):
    made.preflight(restoration_preflight=("unverified", ["betas are not shown by the service."]))
    made.close()
    view = seen(made)
    assert view.phase == "gates closed"
    assert "restoration_preflight" in view.next
    assert "--accept-unverified restoration_preflight" in view.next
    done = rx("status", made.place)
    assert done.returncode == 0
    assert "betas are not shown by the service." in done.stdout


def test_a_failed_gate_is_never_offered_for_acceptance(made):
    made.preflight(activation_gate=("failed", ["executed_steps is 59."]))
    assert "accept" not in seen(made).next


def test_a_cleared_run_names_the_clearance_of_every_arm(made):
    made.preflight().clear(made.plan.arms[:2])
    view = seen(made)
    assert view.phase == "cleared"
    assert [one.clearance for one in view.arms] == [1, 1, None, None, None, None]
    assert view.clearances[0].spent == ()


def test_a_restore_takes_updates_back(made):
    made.preflight().clear()
    one = made.plan.arms[0]
    made.start(one)
    for step in range(5):
        made.step(one, step, 2.0 - 0.1 * step)
    made.say("arm_restored", arm=one.name, restore=1, uri="tinker://x/3", step=3, discarded=2)
    made.step(one, 3, 1.5)
    view = arm(made, 0)
    assert (view.done, view.restores, view.replayed, view.last_loss) == (4, 1, 2, 1.5)
    assert view.state == "training"


def test_a_stopped_arm_shows_its_reason_until_it_goes_on(made):
    made.preflight().clear()
    one = made.plan.arms[0]
    made.train(one, steps=3)
    made.say("arm_stopped", arm=one.name, step=3, how="failed", reason="the service is full")
    made.say("run_interrupted", reason="the service is full")
    assert arm(made, 0).state == "stopped"
    assert seen(made).interrupted == "the service is full"
    made.say("arm_started", arm=one.name, attempt=2, clearance="clearance-1.json")
    assert arm(made, 0).state == "training"
    assert arm(made, 0).attempts == 2
    assert seen(made).interrupted == ""


def test_a_selection_is_shown_from_search_to_freeze(tmp_path):
    made = Made(tmp_path / "run", "exp_71911f0fb9")
    made.preflight().clear(made.plan.selection)
    scores = [2.1, 2.0, 2.2, 1.9, 1.8, 1.7]
    for one, score in zip(made.plan.selection, scores, strict=True):
        assert seen(made).phase in ("cleared", "selection")
        made.train(one).score(one, score)
    assert {one.state for one in seen(made).arms[6:]} == {"waits for the selection"}
    made.say(
        "selection_frozen",
        selected={"baseline": 1e-4, "treatment": 3e-3},
        edge={"baseline": False, "treatment": True},
    )
    view = seen(made)
    assert view.phase == "confirmation"
    assert [(grid.role, grid.selected, grid.at_edge) for grid in view.grids] == [
        ("baseline", 1e-4, False),
        ("treatment", 3e-3, True),
    ]
    assert [point.score for point in view.grids[1].points] == [1.9, 1.8, 1.7]
    assert [one.rate for one in view.arms[6:]] == [1e-4] * 3 + [3e-3] * 3
    made.close()
    assert "at the edge of the grid" in rx("status", made.place).stdout


def test_a_finished_run_as_json(made):
    made.finish().close()
    document = rx_json("status", made.place)
    assert document["schema"] == "urn:rx:schema:status:1"
    assert (document["phase"], document["verdict"], document["outcome_reason"]) == (
        "finished",
        "inconclusive",
        "tie",
    )
    assert document["base_score"] == 2.439
    assert [one["steps"] for one in document["arms"]] == [60] * 6
    assert {one["state"] for one in document["arms"]} == {"scored"}
    assert document["ledger"]["lines"] == len(made.ledger.lines)
    assert document["ledger"]["damage"] == []
    assert document["live"] is False
    assert document["evidence"]["files"] == len(list((made.place / "evidence").iterdir()))
    assert "rx bundle" in document["next"]


def test_inside_the_directory_no_argument_is_needed(made):
    made.preflight()
    made.close()
    inside, outside = rx("status", cwd=made.place), rx("status", "--run-dir", made.place)
    assert inside.returncode == outside.returncode == 0
    assert inside.stdout.splitlines()[0] == outside.stdout.splitlines()[0] == "gates closed"


def test_a_run_that_another_process_holds_is_live(made):
    made.preflight()
    document = rx_json("status", made.place)
    assert document["live"] is True
    assert "now" in document["next"]


def test_a_damaged_ledger_exits_4_and_shows_where(made):
    made.preflight()
    made.close()
    path = made.run.ledger_path
    path.write_bytes(path.read_bytes().replace(b"2.439", b"1.439", 1))
    done = rx("status", made.place)
    assert done.returncode == 4
    assert "DAMAGED" in done.stdout
    assert rx_json("status", made.place)["ledger"]["damage"]


def test_a_torn_tail_is_no_damage(made):
    made.preflight()
    made.close()
    with made.run.ledger_path.open("ab") as file:
        file.write(b'{"half a li')
    done = rx("status", made.place)
    assert done.returncode == 0
    assert "torn tail of 11 bytes" in done.stdout


def test_no_run_is_one_line(tmp_path):
    done = rx("status", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_nothing_is_written(made):
    made.finish().close()
    before = {path: path.stat().st_mtime_ns for path in made.place.rglob("*")}
    rx("status", made.place)
    assert {path: path.stat().st_mtime_ns for path in made.place.rglob("*")} == before


def test_a_secret_in_a_reason_is_not_shown(made):
    key = "tml-" + "a1B2" * 8
    made.preflight(feasibility=("unverified", [f"the header was {key}"]))
    made.close()
    for form in ("text", "json"):
        assert key not in rx("status", made.place, "--format", form).stdout
