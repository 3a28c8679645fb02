"""The page in a real browser: what is shown, nothing complained about, nothing asked for."""

import pytest
from chromium import show
from making import Made
from reading import read

from rx_tools.evidence.run_dir import RunDir
from rx_tools.report.html import render_html
from rx_tools.report.run_view import look

MEASURE = (
    "<script>parent.postMessage("
    "document.documentElement.scrollWidth + ' of ' + window.innerWidth, '*')</script></body>"
)
FRAME = (
    "<!DOCTYPE html><html><head><title></title>"
    "<script>onmessage = (message) => { document.title = message.data }</script></head>"
    '<body><iframe src="measured.html" width="{}" height="900"></iframe></body></html>'
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = tmp_path_factory.mktemp("browser")
    made = Made(place / "run")
    made.deviates("steps", "60", "<img src=http://img.example/a.png>", "<script>x()</script>")
    made.finish().close()
    path = place / "report.html"
    path.write_text(render_html(look(RunDir(made.place))))
    return path


def test_shown_quietly_and_alone(page, tmp_path):
    shown = show(page, tmp_path)
    tree = read(shown.dom)
    assert tree.one("p", class_="word").text == "inconclusive"
    assert "<script>x()</script>" in tree.text
    assert not tree.all("script")
    assert not tree.all("img")
    assert len(tree.all("svg", class_="figure")) == 5
    assert shown.console == []
    assert shown.requests == []


def test_the_browser_would_have_told(tmp_path):
    """The control: a page that complains and asks is caught doing so."""
    place = tmp_path / "bad.html"
    place.write_text(
        '<link rel="stylesheet" href="https://fonts.example/x.css">'
        '<img src="http://img.example/a.png"><script>console.error("loud")</script>'
    )
    shown = show(place, tmp_path / "home")
    assert sorted(shown.requests) == ["http://img.example/a.png", "https://fonts.example/x.css"]
    assert any("loud" in line for line in shown.console)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_sideways(page, tmp_path, width):
    """Only tables scroll, each in its own box; the page itself never does."""
    text = page.read_text()
    assert POLICY in text
    measured = tmp_path / "measured.html"
    measured.write_text(
        text.replace(POLICY, "default-src * 'unsafe-inline'").replace("</body>", MEASURE)
    )
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.replace("{}", str(width)))
    shown = show(frame, tmp_path / "home", "--virtual-time-budget=3000")
    title = read(shown.dom).one("head").one("title").text
    wide, _, window = title.partition(" of ")
    assert int(window) == width
    assert int(wide) <= int(window)
