"""Rules on a record, and on its successive updates: one family per module."""
