"""The pictures of a report: loss curves, the interval, selection grids, when each arm worked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rx_tools.report.run_arms import ArmView
from rx_tools.report.run_effects import EffectView
from rx_tools.report.run_gates import GridView
from rx_tools.report.svg import Scale, box, dot, figure, group, label, line, number, padded, path

COLOURS = 6
PANEL = (360.0, 230.0)
WIDE = 420.0


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves that share a picture."""

    title: str
    arms: tuple[ArmView, ...]


def colours_of(arms: Sequence[ArmView]) -> dict[str, str]:
    """Role → class of its colour and dash, in the plan's order."""
    roles = dict.fromkeys(arm.role for arm in arms)
    return {role: f"c{index % COLOURS}" for index, role in enumerate(roles)}


def panels_of(arms: Sequence[ArmView]) -> list[Panel]:
    """One panel per search and one per seed of the confirmation, for arms that have trained."""
    groups: dict[str, list[ArmView]] = {}
    for arm in arms:
        searching = arm.phase == "selection"
        name = f"search, {arm.role}" if searching else f"seed {arm.seed}"
        if arm.losses:
            groups.setdefault(name, []).append(arm)
    return [Panel(title, tuple(own)) for title, own in groups.items()]


def loss_plot(
    panel: Panel, colours: Mapping[str, str], losses: tuple[float, float], name: str
) -> Markup:
    """Training loss over steps; the y axis is the same in every panel."""
    width, height = PANEL
    last = max(arm.steps for arm in panel.arms)
    x = Scale(0, last, 46, width - 14)
    y = Scale(*losses, height - 34, 26)
    searching = panel.arms[0].phase == "selection"
    curves = [
        path(
            [(x(step + 1), y(loss)) for step, loss in arm.losses],
            f"curve {f'd{index % 4} ' if searching else ''}{colours[arm.role]}",
        )
        for index, arm in enumerate(panel.arms)
    ]
    ends = [
        dot(x(arm.losses[-1][0] + 1), y(arm.losses[-1][1]), 3, f"end {colours[arm.role]}", tip(arm))
        for arm in panel.arms
    ]
    parts = [
        *axes(x, y, "update"),
        label(12, 16, panel.title, "heading"),
        *curves,
        *ends,
    ]
    words = "; ".join(tip(arm) for arm in panel.arms)
    return figure(width, height, f"Training loss, {panel.title}", words, parts, name)


def tip(arm: ArmView) -> str:
    """What a curve says in words."""
    first, last = arm.losses[0], arm.losses[-1]
    rate = f" at {arm.rate:g}" if arm.rate is not None else ""
    return f"{arm.name}{rate}: {first[1]:.4f} to {last[1]:.4f} after {arm.done} of {arm.steps}"


def axes(x: Scale, y: Scale, name: str) -> Iterator[Markup]:
    """Grid lines with their values; the name of the x axis stands at its end."""
    for value in y.ticks(4):
        yield line(x.start, y(value), x.end, y(value), "grid")
        yield label(x.start - 6, y(value) + 4, number(value), "tick", "end")
    yield line(x.start, y.start, x.end, y.start, "axis")
    for value in x.ticks(5):
        yield line(x(value), y.start, x(value), y.start + 4, "axis")
        yield label(x(value), y.start + 16, number(value), "tick", "middle")
    yield label(x.end, y.start + 29, name, "tick", "end")


def loss_plots(arms: Sequence[ArmView]) -> list[Markup]:
    """Every panel, on one scale."""
    panels, colours = panels_of(arms), colours_of(arms)
    known = [loss for arm in arms for _, loss in arm.losses]
    span = padded(known)
    return [loss_plot(panel, colours, span, f"loss{n}") for n, panel in enumerate(panels)]


def effect_plot(effect: EffectView, name: str) -> Markup:
    """The interval over the seeds' effects, against the margin; the band where that is the rule."""
    seeds = {seed: value for seed, value in effect.contrasts.items() if value is not None}
    result = effect.result
    ends = [end for end in (result.low, result.high) if end is not None] if result else []
    band = effect.reading != "margin" and effect.margin > 0
    edges = [effect.margin, *([-effect.margin] if band else [])]
    height = 80.0 + 22 * len(effect.contrasts)
    x = Scale(*padded([0.0, *edges, *seeds.values(), *ends]), 64, WIDE - 14)
    floor = height - 28
    parts = [*margins(effect, x, floor, band=band), *effect_axis(x, floor)]
    parts += interval_bar(result.mean, ends, x) if result and result.mean is not None else []
    for row, (seed, value) in enumerate(effect.contrasts.items()):
        at = 66.0 + 22 * row
        parts.append(label(56, at + 4, f"seed {seed}", "tick", "end"))
        if value is not None:
            parts.append(dot(x(value), at, 4, "seed", f"seed {seed}: {value:.6g}"))
    words = effect_words(effect, ends)
    return figure(WIDE, height, f"Effect and interval, {effect.id}", words, parts, name)


def margins(effect: EffectView, x: Scale, floor: float, *, band: bool) -> Iterator[Markup]:
    """The band of a tie, or the line of the margin, and zero."""
    if band:
        yield box(x(-effect.margin), 22, x(effect.margin) - x(-effect.margin), floor - 22, "band")
        yield line(x(-effect.margin), 22, x(-effect.margin), floor, "margin")
    yield line(x(effect.margin), 22, x(effect.margin), floor, "margin")
    at = min(max(x(effect.margin), x.start + 34), x.end - 34)
    yield label(at, 14, f"margin {number(effect.margin)}", "tick", "middle")
    yield line(x(0), 22, x(0), floor, "zero")


def effect_axis(x: Scale, floor: float) -> Iterator[Markup]:
    """The axis of effects."""
    yield line(x.start, floor, x.end, floor, "axis")
    for value in x.ticks(4):
        yield line(x(value), floor, x(value), floor + 4, "axis")
        yield label(x(value), floor + 17, number(value), "tick", "middle")


def interval_bar(mean: float, ends: Sequence[float], x: Scale) -> list[Markup]:
    """The mean, and the interval through it where there is one."""
    parts = [label(56, 42, "mean", "tick strong", "end")]
    if len(ends) == 2:
        low, high = map(x, ends)
        parts.append(line(low, 38, high, 38, "interval"))
        parts += [line(end, 32, end, 44, "interval") for end in (low, high)]
    return [*parts, dot(x(mean), 38, 5.5, "mean", f"mean {mean:.6g}")]


def effect_words(effect: EffectView, ends: Sequence[float]) -> str:
    """The picture in words."""
    seeds = ", ".join(
        f"seed {seed}: {'not there yet' if value is None else format(value, '.6g')}"
        for seed, value in effect.contrasts.items()
    )
    interval = f"; interval [{ends[0]:.6g}, {ends[1]:.6g}]" if len(ends) == 2 else ""
    mean = effect.result.mean if effect.result else None
    centre = f"mean {mean:.6g}; " if mean is not None else ""
    return f"{centre}margin {effect.margin:g}{interval}; {seeds}"


def grid_plot(grid: GridView, name: str) -> Markup:
    """Validation score over learning rate; the chosen rate is ringed."""
    width, height = PANEL
    known = [one for one in grid.points if one.score is not None]
    rates = [one.rate for one in grid.points]
    x = Scale(min(rates), max(rates), 70, width - 40, log=min(rates) > 0)
    y = Scale(*padded([one.score for one in known if one.score is not None]), height - 34, 30)
    points = [(x(one.rate), y(one.score)) for one in known if one.score is not None]
    parts = [label(12, 16, f"{grid.role}: score over learning rate", "heading")]
    for value in y.ticks(4) if known else []:
        parts.append(line(46, y(value), width - 12, y(value), "grid"))
        parts.append(label(42, y(value) + 4, number(value), "tick", "end"))
    parts.append(line(46, height - 34, width - 12, height - 34, "axis"))
    parts += [label(x(r), height - 18, number(r), "tick", "middle") for r in rates]
    parts += [path(points, "curve c0")] if len(points) > 1 else []
    for one, (left, top) in zip(known, points, strict=True):
        chosen = one.rate == grid.selected
        parts.append(dot(left, top, 4, "end c0", f"{one.rate:g}: {one.score:.6g}"))
        parts += [dot(left, top, 9, "chosen")] if chosen else []
    words = "; ".join(f"{one.rate:g}: {one.score:.6g}" for one in known) or "nothing scored yet"
    return figure(width, height, f"Selection, {grid.role}", words, parts, name)


def legend(arms: Sequence[ArmView]) -> list[tuple[str, Markup]]:
    """(role, swatch) of every role that has trained."""
    colours = colours_of(arms)
    roles = dict.fromkeys(arm.role for arm in arms if arm.losses)
    return [(role, swatch(colours[role])) for role in roles]


def swatch(colour: str) -> Markup:
    """A short piece of a curve."""
    inside = group([path([(1, 5), (27, 5)], f"curve {colour}")])
    return Markup('<svg viewBox="0 0 28 10" class="swatch" aria-hidden="true">{}</svg>').format(
        inside
    )
