"""`rx feasibility`: the feasibility gate on documents."""

from rx_tools.cli.single_gate import gate_command

command = gate_command(
    "rx_tools.checks.feasibility",
    "feasibility",
    """Project time and GPU hours, and compare them with the budget. Exits 0 only if they fit.

    Example: rx feasibility spec.json record.json
    """,
)
