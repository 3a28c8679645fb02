"""Probes of optimizer honesty: each on throw-away models, each with an outcome and its figures."""
