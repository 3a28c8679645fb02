"""Activation metrics that were measured elsewhere."""

from pathlib import Path

from rx_tools.errors import DocumentError
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.json import is_number
from rx_tools.runner.preflight.activation import Value


def supplied_metrics(path: Path | None) -> dict[str, Value]:
    """Metric → scalar from a JSON file; one line for anything that is no scalar."""
    if path is None:
        return {}
    found = read_document(path).value
    if not isinstance(found, dict):
        raise DocumentError("expected an object: metric → value", where=str(path))
    wrong = [
        name for name, value in found.items() if not (is_number(value) or isinstance(value, str))
    ]
    if wrong:
        raise DocumentError(f"{wrong[0]} is no number and no text", where=str(path))
    return found
