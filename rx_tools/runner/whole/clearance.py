"""Issuing a clearance when the gates open, and admitting an arm only with one that still holds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rx_tools import __version__
from rx_tools.checks.clearance import Binding, differences
from rx_tools.errors import IntegrityError
from rx_tools.evidence.digest import sha256_file, sha256_of
from rx_tools.evidence.ledger import Ledger, LedgerLine
from rx_tools.evidence.publish import publish
from rx_tools.evidence.run_dir import RunDir, pretty
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.names import Sha256
from rx_tools.model.result import Status
from rx_tools.runner.service import ServiceIdentity

SCHEMA = "urn:rx:schema:clearance:1"


def service_facts(identity: ServiceIdentity) -> dict[str, Any]:
    """Who served, without a port or a key; an embedded service is its revision."""
    if identity.embedded_revision:
        return {"embedded_revision": identity.embedded_revision}
    return {"host": identity.host, "capabilities_sha256": identity.capabilities_sha256}


def binding(run: RunDir, identity: ServiceIdentity, names: Sequence[str]) -> Binding:
    """What holds now, from the files as they lie on the disk."""
    present = {name: run.evidence / name for name in names if (run.evidence / name).is_file()}
    return Binding(
        run_id=run.run_id,
        spec_sha256=run.spec_sha256,
        plan_sha256=run.plan_sha256,
        rx_version=__version__,
        sdk_version=identity.sdk_version,
        service=service_facts(identity),
        evidence={name: sha256_file(path) for name, path in present.items()},
    )


def issue(
    run: RunDir,
    ledger: Ledger,
    identity: ServiceIdentity,
    *,
    arms: Sequence[str],
    gates: Mapping[str, Status],
    accepted: Sequence[str],
    evidence: Sequence[str],
) -> Path:
    """Write the next clearance and announce it; valid for each of `arms` once."""
    number = len(run.clearance_paths()) + 1
    document = {
        "schema": SCHEMA,
        "rx_version": __version__,
        "number": number,
        "arms": list(arms),
        "gates": {gate: status.value for gate, status in gates.items()},
        "accepted_unverified": list(accepted),
        "binding": binding(run, identity, evidence).to_json(),
    }
    content = pretty(document)
    data = {"clearance": number, "sha256": sha256_of(content), "arms": list(arms)}
    ledger.append("clearance_issued", data)
    publish(run.path, f"clearance-{number}.json", content)
    return run.path / f"clearance-{number}.json"


def events(lines: Sequence[LedgerLine], event: str) -> list[JsonObject]:
    """The data of every line of one event, in order."""
    return [line.data for line in lines if line.event == event]


def admit(run: RunDir, ledger: Ledger, identity: ServiceIdentity, arm: str, *, resume: bool) -> int:
    """Spend the newest clearance that names the arm; a resume re-enters its own spent one.

    Returns the clearance's number. Raises `IntegrityError` that says what is missing or changed.
    """
    path, document = clearance_for(run, arm)
    refuse_strange(ledger, path, document)
    changed = differences(as_object(document.get("binding")), bound_now(run, identity, document))
    if changed:
        raise refusal(path.name, "; ".join(changed), "run `rx preflight` again in a new run")
    number = int(document["number"])
    if {"arm": arm, "clearance": number} in events(ledger.lines, "clearance_spent"):
        if not resume:
            raise refusal(path.name, f"{arm} has spent it", "continue that arm with --resume")
        return number
    ledger.append("clearance_spent", {"arm": arm, "clearance": number})
    return number


def bound_now(run: RunDir, identity: ServiceIdentity, document: JsonObject) -> Binding:
    """The same binding, measured now."""
    names = tuple(as_object(as_object(document.get("binding")).get("evidence")))
    return binding(run, identity, names)


def clearance_for(run: RunDir, arm: str) -> tuple[Path, JsonObject]:
    """The newest clearance that names the arm."""
    for path in reversed(run.clearance_paths()):
        document = as_object(read_document(path).value)
        if arm in document.get("arms", ()):
            return path, document
    raise refusal(arm, "no clearance names this arm", "run `rx preflight`, and open every gate")


def refuse_strange(ledger: Ledger, path: Path, document: JsonObject) -> None:
    """A clearance that this run's ledger did not announce, or that was edited, opens nothing."""
    announced = {
        int(line["clearance"]): Sha256(str(line["sha256"]))
        for line in events(ledger.lines, "clearance_issued")
    }
    number = document.get("number")
    if announced.get(number if isinstance(number, int) else 0) == sha256_file(path):
        return
    raise refusal(path.name, "it was edited, or another run's", "run `rx preflight` again")


def refusal(where: str, what: str, hint: str) -> IntegrityError:
    """The gate stays closed."""
    return IntegrityError(f"the gate is closed: {what}", where=where, hint=hint)
