"""What the arms of one initialization group must have in common."""

from collections.abc import Iterator

from rx_tools.checks.arm_evidence import proves_by_checkpoint, proves_by_hash
from rx_tools.checks.grading import Check, Problem, is_text
from rx_tools.model.json import JsonObject, as_object, as_text, is_integer
from rx_tools.model.result import Status

Member = tuple[JsonObject, str]
"""The entry of an arm and its JSON path."""


def group_checks(
    index: int,
    arms: list[JsonObject],
    members: list[Member],
    lone_allowed: bool,
    fixed_batch: bool,
) -> Iterator[Check]:
    """Initialization, and where required the output, compared over the group."""
    label = f"group {index + 1} ({', '.join(as_text(arm.get('name')) for arm in arms)})"
    starts = [as_object(entry.get("initialization")) for entry, _ in members]
    place = members[0][1]
    different = list(difference_problems(label, starts, place))
    problems = [
        *lone_problems(label, members, lone_allowed, place),
        *(different or identity_problems(label, starts, place)),
    ]
    yield Check(f"{label}: initialization", tuple(problems), f"{label}: one initialization.")
    if fixed_batch:
        outputs = [as_object(entry.get("initial_output")) for entry, _ in members]
        found = [
            differing(label, outputs, "batch_sha256", place),
            differing(label, outputs, "output_sha256", place),
        ]
        real = tuple(problem for problem in found if problem is not None)
        yield Check(f"{label}: initial output", real, f"{label}: one initial output.")


def lone_problems(
    label: str, members: list[Member], lone_allowed: bool, place: str
) -> Iterator[Problem]:
    """One arm alone compares with nothing, unless it resumes its own checkpoint."""
    if len(members) != 1:
        return
    restores = members[0][0].get("restore_count")
    if not lone_allowed:
        message = f"{label}: one arm alone is no group unless it only restores a checkpoint."
        yield Problem(Status.INVALID, "RX329", message, "$.restoration_preflight.groups", "spec")
    elif not (is_integer(restores) and restores >= 1):
        message = f"{label}: a lone resumed arm needs at least one actual restore."
        yield Problem(Status.UNVERIFIED, "RX329", message, place)


def difference_problems(label: str, starts: list[JsonObject], place: str) -> Iterator[Problem]:
    """Every hash, URI and base that is there must be the same in every arm that has it."""
    for key in ("base_checkpoint", "adapter_sha256", "checkpoint_uri"):
        problem = differing(label, starts, key, place)
        if problem:
            yield problem


def differing(label: str, sections: list[JsonObject], key: str, place: str) -> Problem | None:
    """A problem if two arms recorded different texts under `key`."""
    values = {section[key] for section in sections if is_text(section.get(key))}
    if len(values) <= 1:
        return None
    return Problem(Status.FAILED, "RX327", f"{label}: {key} mismatch.", place)


def identity_problems(label: str, starts: list[JsonObject], place: str) -> Iterator[Problem]:
    """Mixed proofs need a chain of shared identities from each arm to every other."""
    identities = [identities_of(start) for start in starts]
    if not all(identities):
        return
    linked, pending = set(identities[0]), identities[1:]
    while any(linked & identity for identity in pending):
        linked |= set().union(*(identity for identity in pending if linked & identity))
        pending = [identity for identity in pending if not linked & identity]
    if pending:
        message = f"{label}: mixed proofs share no identity."
        yield Problem(Status.UNVERIFIED, "RX328", message, place)


def identities_of(start: JsonObject) -> set[tuple[str, str]]:
    """What identifies a proven initialization: its hash, its checkpoint, or both."""
    found = set()
    if proves_by_hash(start):
        found.add(("adapter_sha256", as_text(start.get("adapter_sha256"))))
    if proves_by_checkpoint(start):
        found.add(("checkpoint_uri", as_text(start.get("checkpoint_uri"))))
    return found
