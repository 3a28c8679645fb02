"""Frozen views over validated documents. No input or output happens here."""
