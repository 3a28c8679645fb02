"""Attestations: somebody signs that a bundle with this root digest was verified, and how it went.

An in-toto Statement v1 names the root digest as its subject and carries what was found (the
policy) inside the signed part. It is signed in a DSSE envelope with an ed25519 key. It lies beside
the bundle, never in it.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rx_tools.errors import DocumentError, IntegrityError, UsageError
from rx_tools.evidence.canonical import compact, document
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.strict_json import parse_document
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.model.names import Sha256

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:rx:attestation:bundle:1"
PAYLOAD = "application/vnd.in-toto+json"
PURPOSE = "rx bundle verification"
MEMBERS = ("_type", "predicate", "predicateType", "subject")


@dataclass(frozen=True, slots=True)
class Attested:
    """A statement whose signature holds. `signer` is the SHA-256 of the raw public key."""

    signer: Sha256
    predicate: Mapping[str, Any]


def statement(root: Sha256, run_id: str, found: Mapping[str, Any]) -> bytes:
    """The statement about one bundle; `found` says what its verification answered."""
    return compact(
        {
            "_type": STATEMENT,
            "subject": [{"name": run_id, "digest": {"sha256": root}}],
            "predicateType": PREDICATE,
            "predicate": {"policy": {"purpose": PURPOSE, **found}, "run_id": run_id},
        }
    )


def sign(payload: bytes, key: "Ed25519PrivateKey") -> bytes:
    """A DSSE envelope around the statement."""
    signature = key.sign(authenticated(PAYLOAD, payload))
    return document(
        {
            "payloadType": PAYLOAD,
            "payload": base64.b64encode(payload).decode(),
            "signatures": [
                {
                    "keyid": key_id(key.public_key()),
                    "sig": base64.b64encode(signature).decode(),
                }
            ],
        }
    )


def authenticated(kind: str, payload: bytes) -> bytes:
    """The bytes that DSSE signs: the type is part of them (pre-authentication encoding, v1)."""
    name = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def check(envelope: bytes, key: "Ed25519PublicKey", root: str, where: str = "") -> Attested:
    """The statement, if `key` signed it and it speaks of this root digest.

    The `keyid` of an envelope is a hint that decides nothing. Raises `IntegrityError` otherwise.
    """
    try:
        body = as_object(parse_document(envelope, where or "attestation").value)
    except DocumentError as error:
        raise IntegrityError(error.what, where=where) from error
    if body.get("payloadType") != PAYLOAD:
        raise IntegrityError("the envelope is of another payload type", where=where)
    payload = decoded(body.get("payload"), where)
    signatures = [as_object(entry).get("sig") for entry in as_list(body.get("signatures"))]
    message = authenticated(PAYLOAD, payload)
    if not any(holds(key, decoded(text, where), message) for text in signatures):
        raise IntegrityError("no signature of this key holds", where=where)
    return Attested(key_id(key), judged_statement(payload, root, where))


def judged_statement(payload: bytes, root: str, where: str) -> Mapping[str, Any]:
    """The predicate of a signed statement, if it is one about this root digest."""
    try:
        body = as_object(parse_document(payload, where or "statement").value)
    except DocumentError as error:
        raise IntegrityError(error.what, where=where) from error
    if tuple(sorted(body)) != MEMBERS or body["_type"] != STATEMENT:
        raise IntegrityError("the signed part is no in-toto Statement v1", where=where)
    if body["predicateType"] != PREDICATE:
        raise IntegrityError("the statement is of another predicate type", where=where)
    subjects = [as_object(as_object(entry).get("digest")) for entry in as_list(body["subject"])]
    if root not in [subject.get("sha256") for subject in subjects]:
        raise IntegrityError("the root digest is not among its subjects", where=where)
    predicate = as_object(body["predicate"])
    if as_object(predicate.get("policy")).get("purpose") != PURPOSE:
        raise IntegrityError("the statement was made for another purpose", where=where)
    return predicate


def decoded(text: object, where: str) -> bytes:
    """Strict base64, or `IntegrityError`."""
    try:
        return base64.b64decode(as_text(text), validate=True)
    except (binascii.Error, ValueError) as error:
        raise IntegrityError("the envelope is not base64", where=where) from error


def holds(key: "Ed25519PublicKey", signature: bytes, message: bytes) -> bool:
    """Whether a signature is the key's over the message."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def key_id(key: "Ed25519PublicKey") -> Sha256:
    """The SHA-256 of the 32 raw bytes of a public key."""
    return sha256_of(key.public_bytes_raw())


def private_key(path: Path) -> "Ed25519PrivateKey":
    """An ed25519 private key from a PEM (PKCS #8) or OpenSSH file without a passphrase."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        load_pem_private_key,
        load_ssh_private_key,
    )

    data = path.read_bytes()
    load = load_ssh_private_key if b"OPENSSH" in data[:40] else load_pem_private_key
    key = loaded(lambda: load(data, None), path)
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise not_a_key(path)


def public_key(path: Path) -> "Ed25519PublicKey":
    """An ed25519 public key from a PEM or an OpenSSH `.pub` file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import (
        load_pem_public_key,
        load_ssh_public_key,
    )

    data = path.read_bytes()
    load = load_ssh_public_key if data.startswith(b"ssh-") else load_pem_public_key
    key = loaded(lambda: load(data), path)
    if isinstance(key, Ed25519PublicKey):
        return key
    raise not_a_key(path)


def loaded(load: Any, path: Path) -> Any:
    """What a loader returns; its many errors become one line that shows nothing of the file."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        return load()
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise not_a_key(path) from error


def not_a_key(path: Path) -> UsageError:
    """The one refusal of key files."""
    hint = "make one with: openssl genpkey -algorithm ed25519, or ssh-keygen -t ed25519 -N ''"
    return UsageError("is no ed25519 key that can be read", where=str(path), hint=hint)
