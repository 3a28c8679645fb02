"""Rules on a spec alone: one family per module, each with one pure `judge`."""
