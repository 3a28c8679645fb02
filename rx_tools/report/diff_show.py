"""A comparison of two runs as text and as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rx_tools import __version__
from rx_tools.report.changes import ABSENT, Change
from rx_tools.report.diff import Part
from rx_tools.report.redaction import clean, clean_value
from rx_tools.report.run_view import RunView

SCHEMA = "urn:rx:schema:diff:1"
SHOWN = 6
LONGEST = 60


def diff_text(left: RunView, right: RunView, parts: Sequence[Part]) -> str:
    """The line that decides, then every part with its first differences."""
    return "\n".join(clean(line) for line in diff_lines(left, right, parts))


def diff_lines(left: RunView, right: RunView, parts: Sequence[Part]) -> Iterator[str]:
    """Every line."""
    different = [part.name for part in parts if not part.equal]
    if different:
        yield f"different: {', '.join(different)} ({len(different)} of {len(parts)} parts)"
    else:
        yield f"equal: the same experiment with the same numbers ({len(parts)} parts)"
    yield f"  A  {left.run.run_id}  {left.run.path}"
    yield f"  B  {right.run.run_id}  {right.run.path}"
    yield ""
    for part in parts:
        yield from part_lines(part)


def part_lines(part: Part) -> Iterator[str]:
    """One part."""
    if part.equal:
        yield f"= {part.name:<16}{'nothing there in either' if part.empty else 'equal'}"
        return
    largest = part.largest
    furthest = f", numbers up to {largest.distance:.3g} apart" if largest else ""
    noun = "difference" if len(part.changes) == 1 else "differences"
    yield f"≠ {part.name:<16}{len(part.changes)} {noun}{furthest}"
    yield from (f"    {change_words(one)}" for one in part.changes[:SHOWN])
    if len(part.changes) > SHOWN:
        yield f"    … and {len(part.changes) - SHOWN} more (--format json lists all)"


def change_words(one: Change) -> str:
    """A place and both values."""
    return f"{one.path}: {shown(one.left)} → {shown(one.right)}"


def shown(value: Any) -> str:
    """A value, never longer than sixty characters; of a list its length."""
    if isinstance(value, list | tuple):
        return f"[{len(value)} values]"
    text = value if value is ABSENT else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def diff_json(left: RunView, right: RunView, parts: Sequence[Part]) -> str:
    """The whole comparison as one document."""
    body = {
        "schema": SCHEMA,
        "rx_version": __version__,
        "a": {"run_id": left.run.run_id, "run_dir": str(left.run.path)},
        "b": {"run_id": right.run.run_id, "run_dir": str(right.run.path)},
        "equal": all(part.equal for part in parts),
        "parts": [part_json(part) for part in parts],
    }
    return json.dumps(clean_value(body), indent=1, allow_nan=False)


def part_json(part: Part) -> dict[str, Any]:
    """One part with every difference; an absent value has no member."""
    return {
        "part": part.name,
        "equal": part.equal,
        "empty": part.empty,
        "differences": [
            {"json_path": one.path}
            | {
                side: value
                for side, value in (("a", one.left), ("b", one.right))
                if value is not ABSENT
            }
            for one in part.changes
        ],
    }
