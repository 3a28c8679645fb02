"""One module per gate, each with one pure `judge`."""
