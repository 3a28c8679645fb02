"""`rx activation`: the activation gate on documents."""

from rx_tools.cli.single_gate import gate_command

command = gate_command(
    "rx_tools.checks.activation",
    "activation_gate",
    """Judge the measured activation metrics. Exits 0 only if passed or not applicable.

    Example: rx activation spec.json record.json
    """,
)
