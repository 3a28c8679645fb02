"""Findings and results as terminal text, JSON, SARIF, JUnit, annotations and HTML."""
