"""Publishing a measured section of the record, and posting the update that carries it."""

from collections.abc import Mapping
from typing import Any

from rx_tools.evidence.publish import Published
from rx_tools.runner.whole.record import SECTIONS
from rx_tools.runner.whole.workbench import Workbench


def publish_section(
    bench: Workbench, name: str, section: Mapping[str, Any], **beside: Any
) -> Published:
    """Publish a section under its own key, with whatever else was measured beside it."""
    published = bench.publish_json(name, {SECTIONS[name]: dict(section), **beside})
    data = {"probe": name.removeprefix("preflight-").removesuffix(".json")}
    bench.ledger.append("probe_finished", data, {published.name: published.sha256})
    return published


def start(bench: Workbench, name: str) -> None:
    """Announce a measurement before it begins."""
    probe = name.removeprefix("preflight-").removesuffix(".json")
    bench.ledger.append("probe_started", {"probe": probe})
    bench.tell(f"preflight: {probe}")


def newest_section(bench: Workbench, name: str) -> str:
    """The evidence name of the newest measurement of a section."""
    path = bench.run.newest(name)
    return path.name if path else name
