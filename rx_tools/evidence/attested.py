"""The attestation beside a bundle: where it lies, and what it must agree with."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rx_tools.errors import IntegrityError
from rx_tools.evidence.attestation import check, judged_statement, public_key
from rx_tools.evidence.claim import Claim, State, contradicted, incomplete, verified
from rx_tools.evidence.digest import read_file
from rx_tools.evidence.ssh_signature import ssh_check
from rx_tools.evidence.verify import Verification
from rx_tools.model.json import as_object

ENVELOPE = ".dsse.json"
STATEMENT = ".statement.json"
SSH_SIGNATURE = ".statement.json.sig"


def beside(bundle: Path, ending: str) -> Path:
    """The path of a file beside a bundle, named after it."""
    place = bundle.resolve()
    return place.with_name(place.name + ending)


def found_in(verification: Verification) -> dict[str, Any]:
    """What a signer saw: the exit code and the number of claims of each kind."""
    return {
        "exit_code": int(verification.exit_code),
        "claims": {state.value: len(verification.of(state)) for state in State},
    }


def verify_attestation(bundle: Path, key: Path, verification: Verification) -> Iterator[Claim]:
    """Whether the holder of `key` signed this bundle, and saw what is seen now."""
    try:
        predicate = signed_predicate(bundle, key, verification.root_digest)
    except IntegrityError as error:
        yield contradicted("attestation", str(error))
        return
    except FileNotFoundError:
        yield incomplete("attestation", f"there is none beside {bundle}")
        return
    yield verified("attestation", f"the holder of {key.name} signed this root digest")
    policy = as_object(predicate.get("policy"))
    seen = {"exit_code": policy.get("exit_code")}
    if seen["exit_code"] != int(verification.exit_code):
        yield contradicted("attestation", f"the signer saw exit code {seen['exit_code']}")


def signed_predicate(bundle: Path, key: Path, root: str) -> Mapping[str, Any]:
    """The predicate of the attestation beside a bundle, in whichever form it is."""
    envelope = beside(bundle, ENVELOPE)
    if envelope.exists():
        return check(read_file(envelope), public_key(key), root, envelope.name).predicate
    payload = read_file(beside(bundle, STATEMENT))
    signature = beside(bundle, SSH_SIGNATURE)
    ssh_check(payload, signature, key.read_text(), signature.name)
    return judged_statement(payload, root, signature.name)
