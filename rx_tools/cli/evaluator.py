"""`rx evaluator`: the evaluator gate on documents."""

from rx_tools.cli.single_gate import gate_command

command = gate_command(
    "rx_tools.checks.evaluator",
    "evaluator",
    """Judge the evaluator's identity and that all compared arms share it. Exits 0 only if passed.

    Example: rx evaluator spec.json record.json
    """,
)
