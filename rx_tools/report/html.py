"""One self-contained HTML page of a run: no script, no request, readable anywhere and on paper."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rx_tools import __version__
from rx_tools.evidence.budget import MAX_FILES, MAX_TOTAL, in_mib
from rx_tools.report.headline import headline
from rx_tools.report.page_facts import evaluator_facts, evidence_facts, lanes, service, versions
from rx_tools.report.page_gates import gate_rows
from rx_tools.report.page_measured import activation_metrics, projection
from rx_tools.report.plot_lanes import lanes_plot, spoken
from rx_tools.report.plots import effect_plot, grid_plot, legend, loss_plots
from rx_tools.report.redaction import clean
from rx_tools.report.run_view import RunView, root_digest
from rx_tools.report.status import SIGNS
from rx_tools.report.story import story


def render_html(view: RunView) -> str:
    """The page. Every text in it is escaped and has gone through the redactor."""
    return environment().get_template("report.html.j2").render(context(view))


@cache
def environment() -> Environment:
    """Templates that clean and escape whatever they print; a missing member is an error."""
    made = Environment(
        loader=PackageLoader("rx_tools.report"),
        autoescape=True,
        finalize=cleaned,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "g": lambda value, digits=6: "" if value is None else f"{value:.{digits}g}",
        "f": lambda value, digits=4: "" if value is None else f"{value:.{digits}f}",
        "utc": utc,
        "size": size,
        "plain": plain,
    }
    made.globals["style"] = style(made)
    return made


def cleaned(value: Any) -> Any:
    """What a template prints: markup as it is, everything else cleaned as text."""
    return value if isinstance(value, Markup) else clean(str(value))


def style(templates: Environment) -> Markup:
    """The style sheet."""
    assert templates.loader is not None
    source, _, _ = templates.loader.get_source(templates, "report.css")
    return Markup(source)  # noqa: S704


def context(view: RunView) -> Mapping[str, Any]:
    """Everything that the template shows."""
    effects = view.effects()
    trained = [arm for arm in view.arms if arm.losses]
    return {
        "view": view,
        "spec": view.spec,
        "headline": headline(view, effects),
        "signs": SIGNS,
        "effects": [(one, effect_plot(one, f"effect{n}")) for n, one in enumerate(effects)],
        "losses": loss_plots(trained) if trained else [],
        "legend": legend(view.arms),
        "grids": [(grid, grid_plot(grid, f"grid{n}")) for n, grid in enumerate(view.grids)],
        "gates": gate_rows(view),
        "metrics": activation_metrics(view),
        "projected": projection(view),
        "evaluators": evaluator_facts(view.lines),
        "files": evidence_facts(view),
        "caps": f"{MAX_FILES} files and {in_mib(MAX_TOTAL)} MiB",
        "lanes": lanes_plot(lanes(view.lines)),
        "story": story(view.lines),
        "duration": duration(view),
        "versions": versions(view),
        "service": service(view),
        "root": root_digest(view.bundle) if view.bundle else "",
        "rx_version": __version__,
    }


def duration(view: RunView) -> str:
    """From the first to the last ledger line."""
    if not view.lines:
        return ""
    return spoken((view.lines[-1].moment - view.lines[0].moment).total_seconds())


def utc(moment: datetime, form: str = "%H:%M:%S") -> str:
    """A moment in UTC."""
    return moment.strftime(form)


def plain(value: Any) -> str:
    """A JSON value in a sentence: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def size(n_bytes: int) -> str:
    """A file size."""
    for limit, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if n_bytes >= limit:
            return f"{n_bytes / limit:.1f} {unit}"
    return f"{n_bytes} B"
