"""Every command, option and exit code is documented, and the document is what the code says."""

import importlib.util
import re
from pathlib import Path

import pytest
import typer

from rx_tools.cli.app import COMMANDS, build, module_of
from rx_tools.errors import MEANINGS, WORST_FIRST, ExitCode

ROOT = Path(__file__).parents[2]
CLI = ROOT / "rx_tools/cli"


def builder():
    spec = importlib.util.spec_from_file_location("build_cli", ROOT / "docs/build_cli.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BOOK = builder()
FUNCTIONS = BOOK.commands()


def test_the_document_is_up_to_date():
    assert (ROOT / "docs/cli.md").read_text() == BOOK.book(), "run python docs/build_cli.py"


def test_every_module_with_a_command_is_listed():
    defined = re.compile(r"^(def command\(|command = )", re.MULTILINE)
    found = {path.stem for path in CLI.glob("*.py") if defined.search(path.read_text())}
    assert found == {module_of(name).rpartition(".")[2] for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_explains_itself_with_an_example(name):
    text = FUNCTIONS[name].__doc__ or ""
    assert re.search(rf"^ *Example: .*\brx {name}\b", text, re.MULTILINE), text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name):
    silent = [one.names for one in BOOK.declared(FUNCTIONS[name]) if not one.help.strip()]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_document_lists_the_options_that_the_parser_takes(name):
    """Compared with the parser that Typer builds from the same function."""
    parser = typer.main.get_command(build([name])).commands[name]
    taken = {word for one in parser.params for word in one.opts if word.startswith("-")}
    told = {word for one in BOOK.declared(FUNCTIONS[name]) for word in one.names}
    assert {word for word in told if word.startswith("-")} == taken
    page = (ROOT / "docs/cli.md").read_text().split(f"## rx {name}\n")[1].split("\n## ")[0]
    assert all(f"`{word}`" in page for word in taken)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_may_be_quiet_or_debugged(name):
    told = {word for one in BOOK.declared(FUNCTIONS[name]) for word in one.names}
    assert "--debug" in told


def test_every_exit_code_has_a_meaning_and_a_line():
    assert list(MEANINGS) == list(ExitCode)
    text = (ROOT / "docs/cli.md").read_text()
    for code in ExitCode:
        assert f"| {code:d} | {MEANINGS[code]} |" in text


def test_every_code_that_a_file_can_have_has_its_rank():
    """The verdict codes 10 to 12 belong to `rx decide --exit-verdict` alone."""
    assert set(ExitCode) - set(WORST_FIRST) == {
        ExitCode.REFUTED,
        ExitCode.INCONCLUSIVE,
        ExitCode.INADMISSIBLE,
    }


def test_codes_named_in_a_docstring_exist():
    for name, function in FUNCTIONS.items():
        for number in re.findall(r"\b[Ee]xits? (\d+)\b", function.__doc__ or ""):
            assert int(number) in set(ExitCode), (name, number)
