"""The evidence level, execution: what only a finished run can show, from the ledger."""

from collections import defaultdict
from collections.abc import Iterator

from rx_tools.evidence.claim import Claim, contradicted, verified
from rx_tools.evidence.timeline import Timeline
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.model.record import Record


def verify_execution(record: Record, plan: JsonObject, history: Timeline) -> Iterator[Claim]:
    """Activation metrics that only a finished run can show, from the ledger."""
    values = as_object(record.section("activation_calibration").get("values"))
    done = [arm for arm in history.arms.values() if arm.finished]
    if "executed_steps" in values and done:
        steps = {arm.surviving for arm in done}
        if steps == {values["executed_steps"]}:
            yield verified("executed_steps", f"{values['executed_steps']} in every finished arm")
        else:
            stated = values["executed_steps"]
            yield contradicted("executed_steps", f"stated {stated!r}, executed {sorted(steps)}")
    stated_match = values.get("batch_hash_match_across_arms")
    match = history.batch_match(pairs_of(plan, history))
    if stated_match is None or match is None:
        return
    if stated_match == match:
        yield verified("batch_hash_match_across_arms", f"{match}")
    else:
        message = f"stated {stated_match!r}, from the ledger {match!r}"
        yield contradicted("batch_hash_match_across_arms", message)


def pairs_of(plan: JsonObject, history: Timeline) -> list[tuple[str, str]]:
    """The first finished confirmation arm of each seed with every other of that seed."""
    by_seed: dict[str, list[str]] = defaultdict(list)
    for arm in map(as_object, as_list(plan.get("arms"))):
        name = as_text(arm.get("name"))
        if arm.get("phase") == "confirmation" and history.arm(name).finished:
            by_seed[str(arm.get("seed"))].append(name)
    return [(names[0], other) for names in by_seed.values() for other in names[1:]]
