"""The command line: one module per command; parse, read, call, render, exit."""
