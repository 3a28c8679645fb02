"""The picture of when the preflight and every arm worked."""

from collections.abc import Sequence

from markupsafe import Markup

from rx_tools.report.page_facts import Lane
from rx_tools.report.svg import Scale, box, element, figure, label, line

WIDTH, LEFT, ROW, TOP = 720.0, 190.0, 22.0, 12.0
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def lanes_plot(lanes: Sequence[Lane]) -> Markup | None:
    """One row per lane on a common time axis; nothing when nothing has begun."""
    if not lanes:
        return None
    zero = min(span.begun for lane in lanes for span in lane.spans)
    total = max((span.ended - zero).total_seconds() for lane in lanes for span in lane.spans)
    floor = TOP + ROW * len(lanes)
    unit, sign = unit_of(total)
    x = Scale(0, max(total, 1.0) / unit, LEFT, WIDTH - 16)
    parts = [line(x(tick), TOP, x(tick), floor, "grid") for tick in x.ticks(6)]
    parts += [
        label(x(tick), floor + 17, f"{tick:g} {sign}", "tick", "middle") for tick in x.ticks(6)
    ]
    for row, lane in enumerate(lanes):
        at = TOP + ROW * row
        parts.append(label(LEFT - 8, at + 15, shortened(lane.name), "tick", "end"))
        for span in lane.spans:
            begun = x((span.begun - zero).total_seconds() / unit)
            width = max(x((span.ended - zero).total_seconds() / unit) - begun, 1.5)
            seconds = (span.ended - span.begun).total_seconds()
            tip = element("title", f"{lane.name}, {span.kind}: {spoken(seconds)}")
            bar = box(begun, at + 5, width, ROW - 9, f"span {span.kind}")
            parts.append(element("g", bar, tip))
    words = "; ".join(f"{lane.name}: {lane_words(lane)}" for lane in lanes)
    return figure(WIDTH, floor + 28, "When each arm worked", words, parts, "lanes")


def lane_words(lane: Lane) -> str:
    """How long a lane did what."""
    kinds = dict.fromkeys(span.kind for span in lane.spans)
    sums = {
        kind: sum((s.ended - s.begun).total_seconds() for s in lane.spans if s.kind == kind)
        for kind in kinds
    }
    return ", ".join(f"{kind} {spoken(seconds)}" for kind, seconds in sums.items())


def unit_of(seconds: float) -> tuple[float, str]:
    """The unit in which a time reads best."""
    return next(((size, sign) for size, sign in UNITS if seconds >= 2 * size), (1.0, "s"))


def spoken(seconds: float) -> str:
    """A duration as people say it."""
    unit, sign = unit_of(seconds)
    return f"{seconds / unit:.1f} {sign}" if unit > 1 else f"{seconds:.1f} s"


def shortened(name: str, length: int = 28) -> str:
    """A name that fits beside the picture."""
    return name if len(name) <= length else f"{name[: length - 1]}…"
