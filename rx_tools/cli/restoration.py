"""`rx restoration`: the restoration gate on documents."""

from rx_tools.cli.single_gate import gate_command

command = gate_command(
    "rx_tools.checks.restoration",
    "restoration_preflight",
    """Judge initializations, restores and optimizers. Exits 0 only if passed or not applicable.

    Example: rx restoration spec.json record.json
    """,
)
