"""The evidence files that a run will hold, by name, before it starts."""

import re
from collections.abc import Sequence

from rx_tools.planning.plan import PlannedArm

SCRIPT = "executed-command.sh"
CONFIG = "effective-config.json"
REVISION = "code-revision.txt"
DATA = "data-manifest.json"
SERVICE = "preflight-service.json"
CORRECTNESS = "preflight-correctness.json"
RESTORATION = "preflight-restoration.json"
ACTIVATION = "preflight-activation.json"
FEASIBILITY = "preflight-feasibility.json"
MEASURED = (SERVICE, CORRECTNESS, RESTORATION, ACTIVATION, FEASIBILITY)
"""What a preflight publishes, in the order of measuring, and a clearance binds."""

AFTERWARDS = "activation-after-run.json"
SELECTION = "selection.json"
OBSERVATIONS = "scored-observations.jsonl"
BASE = "base"
"""The name under which the untrained base model is scored."""


def items_file(kind: str) -> str:
    """The item ids and row hashes of the `confirmation` or `search` set; never a text."""
    return f"items-{kind}.jsonl"


def metrics_file(arm: str) -> str:
    """One row per step of an arm."""
    return f"metrics-{arm}.jsonl"


def predictions_file(arm: str) -> str:
    """One row per scored item of an arm."""
    return f"predictions-{arm}.jsonl"


def restores_file(arm: str) -> str:
    """Every restore of an arm, only where there was one."""
    return f"restores-{arm}.json"


def planned_files(arms: Sequence[PlannedArm], searching: bool) -> tuple[str, ...]:
    """Every name, in the order in which the files appear."""
    opening = [SCRIPT, CONFIG, REVISION, DATA, items_file("confirmation")]
    opening += [items_file("search")] if searching else []
    preflight = [SERVICE, CORRECTNESS, RESTORATION, ACTIVATION, FEASIBILITY]
    per_arm = [f(arm.name) for arm in arms for f in (metrics_file, predictions_file)]
    closing = [SELECTION] if searching else []
    return (
        *opening,
        *preflight,
        predictions_file(BASE),
        *per_arm,
        *closing,
        AFTERWARDS,
        OBSERVATIONS,
    )


def first_version(name: str) -> str:
    """The name that a document had when it was published first: without its number."""
    return re.sub(r"-[0-9]+(?=\.json\Z)", "", name)
