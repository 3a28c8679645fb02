"""Write docs/checks.md from the manual pages of the checks."""

from pathlib import Path

from rx_tools.report.manual import render_book

if __name__ == "__main__":
    Path(__file__).with_name("checks.md").write_text(render_book(), "utf-8")
