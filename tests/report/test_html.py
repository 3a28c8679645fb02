"""`rx report`: what the page says, that it is one accessible file, and that it leaks nothing."""

import hashlib
import json

import pytest
from calling import rx, rx_json
from making import EFFECTS, Made
from reading import read, rows

from rx_tools.evidence.run_dir import RunDir
from rx_tools.report.html import render_html
from rx_tools.report.run_view import look

INTERVAL = (0.002854, 0.00636)
"""Of the real run, as its record states it; its mean is 0.004607 and its sd 0.0007057."""


def page_of(made):
    return render_html(look(RunDir(made.place)))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    made = Made(tmp_path_factory.mktemp("runs") / "finished")
    made.deviates("steps", "60", "59", "the service <stopped> early").finish()
    made.close()
    return made


@pytest.fixture(scope="module")
def tree(finished):
    return read(page_of(finished))


def test_the_deciding_line_comes_first(tree):
    decision = tree.one("section", id="decision")
    assert decision.one("p", class_="word").text == "inconclusive"
    assert "falls within the tie band" in decision.text
    assert "effect 0.004607" in decision.text
    assert tree.text.index("inconclusive") < tree.text.index("Gates")


def test_the_interval_is_that_of_the_real_run(tree):
    cells = dict(rows(tree, "effects-1"))
    low, high = map(float, cells["95 % interval"].split())
    assert (round(low, 6), round(high, 5)) == INTERVAL
    assert round(float(cells["Mean"]), 6) == 0.004607
    assert float(cells["Standard deviation"]) == pytest.approx(0.0007057, abs=2e-7)
    assert [float(cells[str(seed)]) for seed in EFFECTS] == pytest.approx([*EFFECTS.values()])
    assert cells["Margin (band)"] == "0.02"


def test_the_picture_draws_the_interval_where_its_axis_says(tree):
    """Positions of the ends, converted with the labelled ticks of the axis alone."""
    picture = tree.one("svg", **{"aria-labelledby": "effect0-t"})
    ticks = {
        float(text.attributes["x"]): float(text.text.replace("−", "-"))
        for text in picture.all("text")
        if text.attributes.get("text-anchor") == "middle" and "margin" not in text.text
    }
    (x0, v0), *_, (x1, v1) = sorted(ticks.items())
    bar = picture.all("line", class_="interval")[0].attributes
    ends = [v0 + (float(bar[key]) - x0) * (v1 - v0) / (x1 - x0) for key in ("x1", "x2")]
    pixel = (v1 - v0) / (x1 - x0)
    assert ends == pytest.approx(INTERVAL, abs=0.02 * pixel)
    band = picture.one("rect", class_="band").attributes
    left = v0 + (float(band["x"]) - x0) * pixel
    assert left == pytest.approx(-0.02, abs=0.02 * pixel)
    assert float(band["width"]) * pixel == pytest.approx(0.04, abs=0.03 * pixel)


def test_every_gate_with_status_and_reason(tree):
    table = {row[0].split()[0]: row for row in rows(tree, "gate-table")}
    assert "passed" in table["restoration_preflight"][1]
    assert "not_applicable" in table["correctness_preflight"][1]
    assert "recomputed" in table["decision_rule"][1]
    assert table["decision_rule"][3].startswith("inconclusive, tie")
    assert "paired_training_arms is true" in table["restoration_preflight"][0]


def test_the_final_record_is_judged_anew(tree):
    """The made record holds no restoration evidence, whatever its ledger says."""
    table = {row[0].split()[0]: row for row in rows(tree, "gate-table")}
    assert "passed" in table["restoration_preflight"][1]
    assert "unverified" in table["restoration_preflight"][2]
    assert "missing or duplicate arm evidence" in table["restoration_preflight"][3]


def test_what_was_measured_beside_what_is_allowed(tree):
    table = {row[0]: row[1:] for row in rows(tree, "metric-table")}
    assert table["executed_steps"] == ["60", "60"]
    assert table["executed_learning_rate_treatment"] == ["0.0003", "0.0003"]
    assert table["executed_base_model"] == ["nothing", "Qwen/Qwen3.5-2B"]
    assert table["train_nll_drop_step0_to_step10"] == ["nothing", "at least 0"]


def test_every_arm_with_losses_and_score(tree, finished):
    table = rows(tree, "arm-table")
    assert [row[0] for row in table] == ["base", *(arm.name for arm in finished.plan.arms)]
    assert table[0][2] == "2.439000"
    assert table[1][1:] == [
        "baseline",
        "0",
        "adamw, 0.0001",
        "60 / 60",
        "0",
        "2.4000 → 2.1050",
        "2.004549",
        "scored",
    ]


def test_every_evidence_file_with_its_digest(tree, finished):
    table = rows(tree, "evidence-table")
    files = sorted((finished.place / "evidence").iterdir())
    for row, path in zip(table, files, strict=True):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert row[0] == f"{path.name} {digest}"
        assert row[3].startswith("ledger line")


def test_an_edited_file_is_marked(tmp_path):
    made = Made(tmp_path / "run").preflight()
    made.close()
    (made.place / "evidence" / "predictions-base.jsonl").write_text("{}\n")
    table = {row[0].split()[0]: row[3] for row in rows(read(page_of(made)), "evidence-table")}
    assert table["predictions-base.jsonl"].startswith("differs from ledger line")
    assert table["code-revision.txt"].startswith("ledger line")


def test_curves_have_a_point_for_every_update(tree):
    pictures = [
        svg
        for svg in tree.all("svg", class_="figure")
        if svg.attributes["aria-labelledby"].startswith("loss")
    ]
    assert [svg.one("title", id=f"loss{n}-t").text for n, svg in enumerate(pictures)] == [
        f"Training loss, seed {seed}" for seed in EFFECTS
    ]
    for picture in pictures:
        assert [path.attributes["d"].count("L") for path in picture.all("path")] == [59, 59]


def test_the_timeline_tells_every_line_once(tree, finished):
    told = []
    for row in rows(tree, "timeline-table"):
        first, _, last = row[2].partition("–")
        told.append((int(first), int(last or first)))
    assert told[0] == (1, 1)
    assert max(last for _, last in told) == len(finished.ledger.lines)
    updates = [row[1] for row in rows(tree, "timeline-table") if "updates, up to" in row[1]]
    assert updates[0] == "baseline_lr1e-4_seed0: 60 updates, up to step 59, training loss 2.1050"


def test_text_from_documents_stays_text(tree, finished):
    assert rows(tree, "deviation-table") == [["steps", "60", "59", "the service <stopped> early"]]
    assert not tree.all("stopped")


def test_one_file_that_asks_for_nothing(tree):
    assert not tree.all("script")
    for node in tree.all():
        for key in ("src", "href", "action", "data", "xlink:href"):
            assert node.attributes.get(key, "#").startswith(("#", "data:")), node
    policy = tree.one("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"].startswith("default-src 'none'")
    style = tree.one("style").text
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert "url(" not in style
    assert "@import" not in style


def test_readable_without_seeing(tree):
    """Headers with a scope, pictures with names, unique ids, links that lead somewhere."""
    ids = [node.attributes["id"] for node in tree.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for table in tree.all("table"):
        assert all("scope" in cell.attributes for cell in table.all("th"))
        assert all(row.all("th") for row in table.one("thead").all("tr"))
    for svg in tree.all("svg"):
        if svg.attributes.get("aria-hidden") == "true":
            continue
        assert svg.attributes["role"] == "img"
        assert svg.one("title", id=svg.attributes["aria-labelledby"]).text
        assert svg.one("desc", id=svg.attributes["aria-describedby"]).text
    for link in tree.all("a"):
        assert link.attributes["href"].removeprefix("#") in ids
    assert tree.one("html").attributes["lang"] == "en"
    assert len(tree.all("h1")) == 1


def test_a_run_under_way_has_a_page_at_every_stage(tmp_path):
    made = Made(tmp_path / "run", "exp_71911f0fb9")
    words = [read(page_of(made)).one("p", class_="word").text]
    made.preflight()
    words.append(read(page_of(made)).one("p", class_="word").text)
    made.clear(made.plan.selection)
    words.append(read(page_of(made)).one("p", class_="word").text)
    made.train(made.plan.selection[0]).score(made.plan.selection[0], 2.1)
    made.train(made.plan.selection[1], steps=7)
    words.append(read(page_of(made)).one("p", class_="word").text)
    assert words == ["planned", "gates closed", "cleared", "selection"]
    tree = read(page_of(made))
    assert rows(tree, "grid-1")[0] == ["5e-05", "2.100000", ""]
    assert "Not frozen yet." in tree.text


def test_a_seed_alone_shows_its_effect_and_no_interval(tmp_path):
    made = Made(tmp_path / "run").preflight().clear()
    for arm in made.plan.arms[:2]:
        made.train(arm).score(arm)
    cells = dict(rows(read(page_of(made)), "effects-1"))
    assert float(cells["0"]) == pytest.approx(EFFECTS[0])
    assert cells["1"] == cells["2"] == "not there yet"
    assert "95 % interval" not in cells
    assert "Mean" not in cells


def test_a_damaged_ledger_leads_the_page(tmp_path):
    made = Made(tmp_path / "run").preflight()
    made.close()
    path = made.run.ledger_path
    path.write_bytes(path.read_bytes().replace(b"2.439", b"1.439", 1))
    done = rx("report", made.place, "-o", tmp_path / "page.html")
    assert done.returncode == 4
    tree = read((tmp_path / "page.html").read_text())
    assert tree.one("p", class_="word").text == "damaged ledger"


def test_a_credential_anywhere_is_redacted(tmp_path):
    key = "tml-" + "a1B2" * 8
    place = f"https://user:{'p4ss' * 4}@train.example/x"
    made = Made(tmp_path / "run")
    title = {"title": f"A title with {key}", "hypothesis": f"See {place}"}
    (made.place / "spec.json").write_text(json.dumps(made.spec | title))
    made.deviates("model", key, place, f"the header said {key}", instead=f"with {key}")
    made.preflight(feasibility=("unverified", [f"{key} was refused", place])).clear()
    arm = made.plan.arms[0]
    made.train(arm, steps=2)
    made.say("arm_stopped", arm=arm.name, step=2, how="failed", reason=f"401 for {key}")
    made.say("run_interrupted", reason=f"401 for {key}")
    page = page_of(made)
    assert key not in page
    assert "p4ssp4ss" not in page
    assert page.count("redacted") >= 8


def test_the_command_writes_replaces_and_prints(tmp_path, finished):
    place = tmp_path / "page.html"
    for _ in range(2):
        done = rx("report", finished.place, "-o", place)
        assert (done.returncode, done.stdout) == (0, "")
    assert rx("report", finished.place, "-o", "-").stdout == place.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    told = rx_json("report", finished.place, "-o", place)
    assert told["sha256"] == hashlib.sha256(place.read_bytes()).hexdigest()
    assert (told["phase"], told["verdict"]) == ("finished", "inconclusive")
    assert rx("report", finished.place, "-o", tmp_path / "no" / "page.html").returncode == 2


def test_the_same_run_gives_the_same_page(finished):
    assert page_of(finished) == page_of(finished)
