"""Manual pages: what the docstring of a check says about its codes.

Pages are read from the source of the module, so that explaining a code imports nothing.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from rx_tools.checks.catalogue import ALL, OTHER_PAGES
from rx_tools.checks.hints import HINTS
from rx_tools.checks.rule_hints import RULE_HINTS
from rx_tools.errors import UsageError

SECTION = re.compile(r"^\*\*([A-Z][a-z]+)\.\*\* ", re.MULTILINE)
NEEDED = ("What", "Why", "Fix", "Source")


@dataclass(frozen=True, slots=True)
class Page:
    """The manual page of one code. `sections` are What, Why, Fix and Source, in this order."""

    code: str
    title: str
    family: str
    sections: Mapping[str, str]


@cache
def pages() -> Mapping[str, Page]:
    """Every page by its code, in the order of the codes."""
    found = {page.code: page for module in (*OTHER_PAGES, *ALL) for page in pages_of(module)}
    return dict(sorted(found.items()))


def title_of(code: str) -> str:
    """The title of a code, the code itself if it has no page."""
    page = pages().get(code)
    return page.title if page else code


def page_of(code: str) -> Page:
    """The page of a code; raises `UsageError` for a code that does not exist."""
    page = pages().get(code.upper())
    if page is None:
        known = sorted(pages())
        hint = f"codes run from {known[0]} to {known[-1]}; rx explain lists them"
        raise UsageError(f"no check has the code {code!r}", hint=hint)
    return page


def pages_of(module: str) -> list[Page]:
    """The pages of one module: a title per code, and the sections that they share."""
    tree = ast.parse(source_of(module))
    text = ast.get_docstring(tree) or ""
    head, sections = split(text)
    return [Page(code, title, head, sections) for code, title in codes_in(tree).items()]


def source_of(module: str) -> str:
    """The source text of a module that is not imported."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return Path(spec.origin).read_text("utf-8")


def codes_in(tree: ast.Module) -> dict[str, str]:
    """The literal dictionary `CODES` of a module."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CODES" and node.value:
            codes: dict[str, str] = ast.literal_eval(node.value)
            return codes
    return {}


def split(text: str) -> tuple[str, dict[str, str]]:
    """The first line of a docstring, and its named sections."""
    parts = SECTION.split(text)
    head = parts[0].strip().split("\n\n")[0]
    return head, {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def render_page(page: Page) -> str:
    """A page as text."""
    body = "\n\n".join(f"{name}. {text}" for name, text in page.sections.items())
    mend = mend_of(page.code)
    title = f"{page.title}\n\nTo mend it: {mend}." if mend else page.title
    return f"{page.code}: {title}\n\n{page.family}\n\n{body}"


def mend_of(code: str) -> str:
    """How to mend what a code says, in half a sentence."""
    return HINTS.get(code) or RULE_HINTS.get(code, "")


def render_index() -> str:
    """One line per code."""
    return "\n".join(f"{code}  {page.title}" for code, page in pages().items())


def render_book() -> str:
    """All pages as one Markdown document, families in the order of their first code."""
    families: dict[str, list[Page]] = {}
    for page in pages().values():
        families.setdefault(page.family, []).append(page)
    parts = [chapter(family, listed) for family, listed in families.items()]
    head = "# Codes\n\nGenerated from the modules of the checks; `rx explain CODE` prints the same."
    return "\n\n".join([head, *parts]) + "\n"


def chapter(family: str, listed: list[Page]) -> str:
    """One family: its codes, then its sections."""
    codes = "\n".join(entry_of(page) for page in listed)
    body = "\n\n".join(f"**{name}.** {text}" for name, text in listed[0].sections.items())
    return f"## {family.rstrip('.')}\n\n{codes}\n\n{body}"


def entry_of(page: Page) -> str:
    """A code in a list: its title, and how to mend it."""
    mend = mend_of(page.code)
    return f"- `{page.code}`: {page.title}" + (f"; to mend it: {mend}" if mend else "")
