"""Measurements before the first training step, one module per gate."""
