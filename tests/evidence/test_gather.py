"""Which files of a folder are judged."""

import pytest

from rx_tools.errors import UsageError
from rx_tools.evidence.gather import MOST_FILES, gather


def names(folder):
    return [str(found.path.relative_to(folder)) for found in gather([str(folder)])]


def test_documents_and_ledgers_without_hidden_private_and_linked_folders(tmp_path):
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    for file in (
        "spec.json",
        "notes.txt",
        "rows.jsonl",
        ".hidden.json",
        ".git/config.json",
        "run/run.json",
        "run/ledger.jsonl",
        "run/work/state.json",
        "run/updates/record-0001.json",
        "work/plan.json",
    ):
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text("{}")
    elsewhere.mkdir()
    (elsewhere / "other.json").write_text("{}")
    (place / "link").symlink_to(elsewhere)
    (place / "loop").symlink_to(place)
    assert names(place) == [
        "run/ledger.jsonl",
        "run/run.json",
        "run/updates/record-0001.json",
        "spec.json",
        "work/plan.json",
    ]


def test_a_folder_of_more_files_than_any_experiment_is_refused_before_reading(tmp_path):
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}.json").touch()
    with pytest.raises(UsageError, match=r"holds more than 10000 JSON files \(name the folder"):
        gather([str(tmp_path)])
    (tmp_path / "0.json").unlink()
    assert len(names(tmp_path)) == MOST_FILES
