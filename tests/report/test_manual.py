"""Every code has a page, and every page is where it is said to be."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rx_tools.checks.catalogue import ALL, OTHER_PAGES
from rx_tools.checks.rule_hints import RULE_HINTS
from rx_tools.errors import UsageError
from rx_tools.report.manual import (
    NEEDED,
    codes_in,
    mend_of,
    page_of,
    pages,
    render_book,
    render_page,
)

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "rx_tools").rglob("*.py"))


def module_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_every_module_with_codes_is_listed_and_only_once():
    having = {module_name(p) for p in SOURCES if codes_in(ast.parse(p.read_text()))}
    listed = (*ALL, *OTHER_PAGES)
    assert having == set(listed)
    assert len(listed) == len(set(listed))


def test_every_code_that_is_used_has_a_page():
    used = {c for path in SOURCES for c in re.findall(r'"(RX\d{3})"', path.read_text())}
    assert used == set(pages())


def test_no_code_belongs_to_two_modules():
    codes = [code for path in SOURCES for code in codes_in(ast.parse(path.read_text()))]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("code", list(pages()))
def test_page_has_every_section(code):
    page = page_of(code)
    assert tuple(page.sections) == NEEDED
    assert all(page.sections.values())
    assert page.title and page.family.endswith((".", "?"))


@pytest.mark.parametrize("code", [code for code in pages() if code[2] in "0125"])
def test_every_rule_says_how_to_mend_it(code):
    assert mend_of(code)
    assert f"To mend it: {mend_of(code)}." in render_page(page_of(code))


def test_every_hint_belongs_to_a_code():
    assert set(RULE_HINTS) <= set(pages())


def test_the_book_is_up_to_date():
    assert (ROOT / "docs/checks.md").read_text() == render_book(), "run docs/build_checks.py"


def test_unknown_code_is_a_usage_error():
    with pytest.raises(UsageError, match="RX999"):
        page_of("RX999")


@pytest.mark.parametrize("arguments", [["explain", "RX214"], ["explain"], ["schema", "record"]])
def test_explaining_imports_no_heavy_module(arguments):
    script = (
        "import sys; from rx_tools.cli.app import build\n"
        f"sys.argv = ['rx', *{arguments!r}]\n"
        "try: build(sys.argv[1:])()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'tinker', 'torch', 'datasets'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
