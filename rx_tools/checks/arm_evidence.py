"""What one arm must show of its initialization, its optimizer and its first output."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.checks.evidence_refs import references_in
from rx_tools.checks.grading import (
    Check,
    Problem,
    examine,
    grade,
    is_sha256,
    is_text,
    one_of,
    resolved,
    same,
    sha256,
    shown,
    text,
    true,
)
from rx_tools.checks.optimizers import family, reported, setting
from rx_tools.checks.selected_rate import is_frozen
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer, is_number
from rx_tools.model.json_path import below
from rx_tools.model.result import Status

MEASURED = ("server_response", "local_hash")
MOST_RESTORES = 10_000
RETAIN = "hand over the file: --evidence DIR, or its content under evidence.files"
GROUPS = "$.restoration_preflight.groups"

CHECKPOINT_RULES = {
    "source": one_of("server_response"),
    "checkpoint_uri": text,
    "checkpoint_immutable": true,
    "checkpoint_scope": one_of("full_initialization"),
    "loaded_checkpoint_uri": text,
    "load_succeeded": true,
}


@dataclass(frozen=True, slots=True)
class Context:
    """What the arms share: is a fixed batch required, which rate was selected, what is retained."""

    fixed_batch: bool
    selected: Callable[[str], float | None]
    evidence: Evidence


def arm_check(arm: JsonObject, entries: list[tuple[JsonObject, str]], context: Context) -> Check:
    """The line of one arm."""
    name = as_text(arm.get("name"))
    if len(entries) != 1:
        message = f"{name}: missing or duplicate arm evidence."
        place = "$.initialization_provenance"
        return Check(name, (Problem(Status.UNVERIFIED, "RX320", message, place),))
    entry, path = entries[0]
    problems = [
        *initialization_problems(name, as_object(entry.get("initialization")), path),
        *optimizer_problems(arm, entry, path, context),
        *retention_problems(name, entry, path, context.evidence),
    ]
    if context.fixed_batch:
        problems += output_problems(name, as_object(entry.get("initial_output")), path)
    return Check(name, tuple(problems), f"{name}: initialization and optimizer verified.")


def retention_problems(
    name: str, entry: JsonObject, path: str, evidence: Evidence
) -> Iterator[Problem]:
    """Every file that the entry rests on is retained; missing evidence is never verified."""
    parts = {"initialization": "RX322", "optimizer_checks": "RX324", "initial_output": "RX326"}
    missing = dict[str, tuple[str, str]]()
    for part, code in parts.items():
        for place, owner, key in references_in(entry.get(part), below(path, part)):
            if is_text(owner[key]) and owner[key] not in evidence:
                missing.setdefault(owner[key], (code, place))
    for file, (code, place) in missing.items():
        message = f"{name}: {file} is not retained for this run."
        yield Problem(Status.UNVERIFIED, code, message, place, hint=RETAIN)


def proves_by_hash(initialization: JsonObject) -> bool:
    """Whether a measured adapter hash is there."""
    return (
        is_sha256(initialization.get("adapter_sha256")) and initialization.get("source") in MEASURED
    )


def proves_by_checkpoint(initialization: JsonObject) -> bool:
    """Whether an immutable full checkpoint is there that the server says it loaded."""
    whole = not list(examine(initialization, CHECKPOINT_RULES, "", "", "$"))
    uris = initialization.get("checkpoint_uri"), initialization.get("loaded_checkpoint_uri")
    return whole and uris[0] == uris[1]


def initialization_problems(name: str, found: JsonObject, path: str) -> Iterator[Problem]:
    """A pinned base, one complete proof, and nothing that contradicts it."""
    label, place = f"{name}: initialization", below(path, "initialization")
    base = {"base_checkpoint": resolved, "evidence_ref": text, "before_first_update": true}
    yield from examine(found, base, "RX322", label, place)
    if found.get("adapter_sha256") is not None and not is_sha256(found["adapter_sha256"]):
        message = f"{label}: adapter_sha256 is malformed."
        yield Problem(Status.INVALID, "RX322", message, below(place, "adapter_sha256"))
    yield from load_problems(label, found, place)
    if not proves_by_hash(found) and not proves_by_checkpoint(found):
        yield Problem(Status.UNVERIFIED, "RX322", f"{label}: {missing_proof(found)}", place)


def missing_proof(found: JsonObject) -> str:
    """Which piece would complete a proof."""
    if found.get("adapter_sha256") is not None:
        return "adapter_sha256 was not measured (source: server_response or local_hash)."
    if found.get("checkpoint_uri") is None:
        return "neither a measured adapter_sha256 nor a full initialization checkpoint."
    piece = next(examine(found, CHECKPOINT_RULES, "", "checkpoint proof", "$"), None)
    return piece.message if piece else "the loaded checkpoint is not the declared one."


def load_problems(label: str, found: JsonObject, place: str) -> Iterator[Problem]:
    """A load that failed, or that loaded something else, whatever else is proven."""
    declared, loaded = found.get("checkpoint_uri"), found.get("loaded_checkpoint_uri")
    if is_text(declared) and is_text(loaded) and declared != loaded:
        message = f"{label}: the loaded checkpoint is not the declared one."
        yield Problem(Status.FAILED, "RX323", message, below(place, "loaded_checkpoint_uri"))
    if found.get("load_succeeded") is False:
        message = f"{label}: the checkpoint did not load."
        yield Problem(Status.FAILED, "RX323", message, below(place, "load_succeeded"))


def optimizer_problems(
    arm: JsonObject, entry: JsonObject, path: str, context: Context
) -> Iterator[Problem]:
    """One check at creation and one after every restore, each against what the arm asked for."""
    name, restores = as_text(arm.get("name")), entry.get("restore_count")
    problems = list(examine(entry, {"restore_count": restore_count}, "RX324", name, path))
    yield from problems
    if problems or not is_integer(restores):
        return
    checks = [as_object(check) for check in as_list(entry.get("optimizer_checks"))]
    place = below(path, "optimizer_checks")
    for restore in range(restores + 1):
        at = [i for i, check in enumerate(checks) if same(check.get("after_restore"), restore)]
        if len(at) != 1:
            message = f"{name}: missing or duplicate optimizer check after restore {restore}."
            yield Problem(Status.UNVERIFIED, "RX324", message, place)
            continue
        label = f"{name}: optimizer after restore {restore}"
        yield from check_problems(label, arm, checks[at[0]], below(place, at[0]), context)
    if len(checks) > restores + 1:
        message = f"{name}: more optimizer checks than restores."
        yield Problem(Status.INVALID, "RX324", message, place)


def restore_count(value: object) -> Status:
    """A count that a run can reach."""
    return grade(value, lambda item: is_integer(item) and 0 <= item <= MOST_RESTORES)


def check_problems(
    label: str, arm: JsonObject, check: JsonObject, path: str, context: Context
) -> Iterator[Problem]:
    """One observation of the server's optimizer."""
    rules = {"before_next_update": true, "evidence_ref": text}
    yield from examine(check, rules, "RX324", label, path)
    actual = reported(check.get("actual"))
    if check.get("source") != "server_response" or not actual:
        message = f"{label} is declared, not observed."
        yield Problem(Status.UNVERIFIED, "RX324", message, path)
        return
    requested = as_text(arm.get("optimizer"))
    if not requested:
        message = f"{label}: the spec requests no optimizer."
        yield Problem(Status.UNVERIFIED, "RX321", message, GROUPS, "spec")
    elif family(actual) != family(requested):
        message = f"{label} is {actual}, requested {requested}."
        yield Problem(Status.FAILED, "RX325", message, below(path, "actual"))
    yield from config_problems(label, arm, as_object(check.get("actual_config")), path, context)


def config_problems(
    label: str, arm: JsonObject, actual: JsonObject, path: str, context: Context
) -> Iterator[Problem]:
    """Every requested setting must be in the server's response with the same value."""
    place = below(path, "actual_config")
    seen = dict[str, Any]()
    for key, value in actual.items():
        if not same(seen.setdefault(setting(key), value), value):
            message = f"{label}: {key} is there twice, with two values."
            yield Problem(Status.INVALID, "RX324", message, place)
    requests = as_object(arm.get("optimizer_config"))
    if arm.get("optimizer_config") is not None and not isinstance(arm["optimizer_config"], Mapping):
        message = f"{label}: the spec's optimizer_config is no object of settings."
        yield Problem(Status.UNVERIFIED, "RX321", message, GROUPS, "spec")
    hidden = [key for key in requests if seen.get(setting(key)) is None]
    if hidden or not actual:
        message = f"{label}: {', '.join(hidden) or 'actual_config'} not exposed by the server."
        yield Problem(Status.UNVERIFIED, "RX324", message, place)
    for key in requests:
        found = seen.get(setting(key))
        wanted: Any = requests[key]
        if is_frozen(wanted):
            wanted = context.selected(as_text(arm.get("name")))
        if wanted is None:
            message = f"{label}: {key} is not selected yet."
            yield Problem(Status.UNVERIFIED, "RX324", message, place)
        elif found is not None and not settings_agree(found, wanted):
            message = f"{label}: {key} is {shown(found)}, requested {shown(wanted)}."
            yield Problem(Status.FAILED, "RX325", message, place)


def settings_agree(found: object, wanted: object) -> bool:
    """Equal values; numbers must be finite, and a boolean is no number."""
    if is_number(wanted):
        return is_number(found) and found == wanted
    if isinstance(wanted, str | bool | list | Mapping):
        return same(found, wanted)
    return False


def output_problems(name: str, output: JsonObject, path: str) -> Iterator[Problem]:
    """The full-precision output on the fixed batch, taken before the first update."""
    label, place = f"{name}: initial output", below(path, "initial_output")
    if output.get("available") is False:
        reason = as_text(output.get("reason")) or "no reason given"
        yield Problem(Status.UNVERIFIED, "RX326", f"{label} is not available: {reason}.", place)
        return
    rules = {
        "available": true,
        "batch_sha256": sha256,
        "output_sha256": sha256,
        "evidence_ref": text,
        "before_first_update": true,
    }
    yield from examine(output, rules, "RX326", label, place)
