"""`rx correctness`: the correctness gate on documents."""

from rx_tools.cli.single_gate import gate_command

command = gate_command(
    "rx_tools.checks.correctness",
    "correctness_preflight",
    """Judge a custom loss or optimizer path. Exits 0 only if passed or not applicable.

    RECORD may also be a bare preflight.json that holds this section alone.

    Example: rx correctness spec.json record.json
    """,
)
