"""Is each optimizer the one that was asked for, and right? Probed before anything trains."""

from collections.abc import Sequence
from pathlib import Path

from rx_tools.planning import evidence_names as names
from rx_tools.runner.data.sources import BUILT_IN
from rx_tools.runner.preflight.pilot import pilot_arm
from rx_tools.runner.preflight.sections import publish_section, start
from rx_tools.runner.probes.handed_in import handed_in
from rx_tools.runner.probes.planned import PlanProbes, probe_plan
from rx_tools.runner.probes.report import INPUT_NAME
from rx_tools.runner.whole.workbench import Workbench


def measure_correctness(bench: Workbench, elsewhere: Sequence[Path]) -> tuple[str, ...]:
    """Probe every optimizer of the plan, publish the reports and the correctness section.

    Returns one line per contradiction; any of them keeps the gates closed.
    """
    start(bench, names.CORRECTNESS)
    probes = probe_plan(
        bench.service,
        bench.spec,
        bench.plan,
        bench.data.train_batch(pilot_arm(bench).seed, 0),
        bench.scratch("probes"),
        beside=handed_in(elsewhere),
        tell=lambda line: bench.tell(f"preflight: {line}"),
    )
    publish_reports(bench, probes)
    gaps = {"contradicted": list(probes.contradicted), "unproven": list(probes.unproven)}
    publish_section(bench, names.CORRECTNESS, probes.section, probes=gaps)
    return probes.contradicted


def publish_reports(bench: Workbench, probes: PlanProbes) -> None:
    """One report per optimizer; the fixed input only where its text may leave this machine."""
    for name, content in probes.files.items():
        if not name.startswith(INPUT_NAME.removesuffix(".json")) or public(bench):
            published = bench.run.put_evidence(bench.run.unused_name(name), content)
            files = {published.name: published.sha256}
            bench.ledger.append("probe_finished", {"probe": name}, files)


def public(bench: Workbench) -> bool:
    """Whether the rows were written for this project and may be published."""
    return bench.plan.data.hf_path == BUILT_IN
