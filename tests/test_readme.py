"""What the README promises is there: the tree, the commands, the exit codes, the two commands."""

import re
from pathlib import Path

from rx_tools.cli.app import COMMANDS
from rx_tools.errors import ExitCode

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
TREE = README.split("## The tree")[1].split("```")[1]


def test_the_tree_matches_the_disk():
    rooms = re.findall(r"^  (\w+)/ ", TREE, re.MULTILINE)
    top = re.findall(r"^([\w.-]+)/? ", TREE, re.MULTILINE)
    assert all((ROOT / name).exists() for name in top)
    on_disk = {
        path.name for path in (ROOT / "rx_tools").iterdir() if (path / "__init__.py").exists()
    }
    assert set(rooms) == on_disk


def test_the_exit_codes_are_all_listed():
    table = README.split("## Exit codes")[1].split("## ")[0]
    listed = {
        int(code)
        for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
        for code in row.split(",")
    }
    assert listed == {int(code) for code in ExitCode}


def test_every_command_named_exists():
    named = set(re.findall(r"\brx ([a-z][a-z-]+)\b(?= )", README)) - {"is", "runs"}
    assert named <= set(COMMANDS)


def test_ci_runs_the_test_command_of_the_readme():
    assert "make test" in README
    assert "make lint test" in (ROOT / ".ci" / "run").read_text()


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
