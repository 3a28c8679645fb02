"""A preflight as JSON."""

import json
from typing import Any, Protocol

from rx_tools import __version__
from rx_tools.model.result import Result


class Outcome(Protocol):
    """What a preflight says of itself."""

    @property
    def table(self) -> Any:
        """Gate → result."""
        ...

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Optimizers that are not what they were asked to be."""
        ...

    @property
    def minutes(self) -> float:
        """Projected wall minutes."""
        ...

    @property
    def cleared(self) -> bool:
        """Whether the first arms may train."""
        ...


def gate_json(result: Result) -> dict[str, Any]:
    """One gate: status, reasons, and the answer in the server's shape."""
    reasons = [
        {"code": one.code, "json_path": one.json_path, "message": one.message, "hint": one.hint}
        for one in result.reasons
    ]
    return {"status": result.status.value, "reasons": reasons, "answer": dict(result.details)}


def preflight_json(outcome: Outcome, run_dir: str) -> str:
    """The whole preflight as one document."""
    body = {
        "schema": "urn:rx:schema:preflight-report:1",
        "rx_version": __version__,
        "run_dir": run_dir,
        "cleared": outcome.cleared,
        "projected_minutes": outcome.minutes,
        "contradicted": list(outcome.contradicted),
        "gates": {gate.value: gate_json(one) for gate, one in outcome.table.results.items()},
    }
    return json.dumps(body, indent=1)
