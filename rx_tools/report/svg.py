"""Just enough SVG: elements, scales with sensible ticks, and figures that a screen reader can name.

Colours, dashes and fonts are classes, so that the page's style sheet decides for light, dark and
paper. Lengths are user units; a figure scales with the width that it gets.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from rx_tools.report.redaction import clean

STEPS = (1, 2, 2.5, 5, 10)


def element(tag: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """One element. Text is cleaned and escaped; `class_` and `stroke_width` lose their underscores.

    An attribute that is None is left out; numbers have at most two decimals.
    """
    shown = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(attribute(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(
        child if isinstance(child, Markup) else escape(clean(child)) for child in children
    )
    return Markup(f"<{tag}{shown}>{inside}</{tag}>")  # noqa: S704


def attribute(value: str | float) -> str:
    """An attribute's text."""
    if isinstance(value, str):
        return clean(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")


def group(children: Iterable[Markup], **attributes: str | float | None) -> Markup:
    """A `<g>`."""
    return element("g", *children, **attributes)


def label(x: float, y: float, words: str, class_: str = "", anchor: str = "start") -> Markup:
    """A text."""
    return element("text", words, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """A rectangle; a negative width counts as none."""
    return element("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=class_)


def dot(x: float, y: float, radius: float, class_: str, title: str = "") -> Markup:
    """A circle, with a tooltip if it has a title."""
    inside = [element("title", title)] if title else []
    return element("circle", *inside, cx=x, cy=y, r=radius, class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """A line through points."""
    steps = " ".join(
        f"{'ML'[index > 0]}{attribute(x)} {attribute(y)}" for index, (x, y) in enumerate(points)
    )
    return element("path", d=steps, class_=class_)


def figure(
    width: float, height: float, title: str, description: str, parts: Iterable[Markup], name: str
) -> Markup:
    """A whole picture with a title and a description; `name` makes its ids unique on the page."""
    names = [element("title", title, id=f"{name}-t"), element("desc", description, id=f"{name}-d")]
    return element(
        "svg",
        *names,
        *parts,
        viewBox=f"0 0 {attribute(width)} {attribute(height)}",
        role="img",
        aria_labelledby=f"{name}-t",
        aria_describedby=f"{name}-d",
        class_="figure",
        style=f"aspect-ratio: {attribute(width)} / {attribute(height)}",
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """From values `low..high` to positions `start..end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The position of a value."""
        low, high, at = (
            (math.log(self.low), math.log(self.high), math.log(value))
            if self.log
            else (self.low, self.high, value)
        )
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """About `count` round values within the scale."""
        if self.log or not self.high > self.low:
            return [self.low, self.high] if self.high > self.low else [self.low]
        step = round_step((self.high - self.low) / max(count, 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(raw: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `raw`."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in STEPS if step * power >= raw * (1 - 1e-9))


def padded(values: Iterable[float], share: float = 0.06) -> tuple[float, float]:
    """The range of some values with a margin on both sides; never empty."""
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    margin = (high - low) * share or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def number(value: float) -> str:
    """A number on an axis."""
    text = f"{value:.4g}"
    return "0" if float(text) == 0 else text.replace("-", "−") if "e" not in text else text
