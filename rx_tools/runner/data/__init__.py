"""Rows in, batches out: sources, rendering, order, digests, and nothing of it leaves as text."""
