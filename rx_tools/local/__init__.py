"""The embedded Tinker-compatible service."""
