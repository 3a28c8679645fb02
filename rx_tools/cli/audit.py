"""`rx audit`: the generation audit on documents."""

from rx_tools.cli.single_gate import gate_command

command = gate_command(
    "rx_tools.checks.generation_audit",
    "generation_audit",
    """Judge the audit of generated training data. Exits 0 only if passed or not applicable.

    The task files are looked for in --evidence DIR, or inline in the record.

    Example: rx audit spec.json record.json
    """,
)
