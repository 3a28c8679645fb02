"""The gate table for a terminal: one line per gate, the reason beside it."""

from collections.abc import Mapping, Sequence

from rx_tools.model.names import Gate
from rx_tools.model.result import Result, Status

SIGN = {
    Status.PASSED: "✓",
    Status.NOT_APPLICABLE: "·",
    Status.FAILED: "✗",
    Status.INVALID: "✗",
    Status.UNVERIFIED: "?",
    Status.UNKNOWN: "?",
}


def gate_lines(results: Mapping[Gate, Result], accepted: Sequence[Gate] = ()) -> list[str]:
    """One line per gate; every further reason of a gate that is not open stands below it."""
    return [line for gate, result in results.items() for line in one_gate(gate, result, accepted)]


def one_gate(gate: Gate, result: Result, accepted: Sequence[Gate]) -> list[str]:
    """The gate's line, and the reasons that keep it closed."""
    taken = " (accepted: the verdict is capped at inconclusive)" if gate in accepted else ""
    line = f"{SIGN[result.status]} {gate.value:<24}{result.status.value}{taken}"
    if result.status.opens:
        return [line]
    shown = [f"    {reason.code} {reason.message}" for reason in result.reasons[:5]]
    more = len(result.reasons) - len(shown)
    return [line, *shown, *([f"    … and {more} more"] if more > 0 else [])]
