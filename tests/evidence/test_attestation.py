"""Attestations: what is signed, by whom, and the forgeries that must not pass.

Second sources: OpenSSL and securesystemslib for the envelopes, ssh-keygen for its own.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

from rx_tools.errors import IntegrityError, UsageError
from rx_tools.evidence.attestation import (
    PAYLOAD,
    PREDICATE,
    PURPOSE,
    STATEMENT,
    authenticated,
    check,
    private_key,
    public_key,
    sign,
    statement,
)
from tests.evidence.forge import TRUE

RUN_ID = "small-20261129T201000Z"
ROOT = "ab" * 32
OTHER = "cd" * 32
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
PAYLOAD_BYTES = statement(ROOT, RUN_ID, {"exit_code": 0})


def envelope(payload=PAYLOAD_BYTES, key=KEY, kind=PAYLOAD, signed_kind=None, sigs=None):
    """An envelope that may lie in any of its parts."""
    signature = key.sign(authenticated(signed_kind or kind, payload))
    entry = {"keyid": "x", "sig": base64.b64encode(signature).decode()}
    body = {
        "payloadType": kind,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [entry] if sigs is None else sigs,
    }
    return json.dumps(body).encode()


def about(**changes):
    body = {
        "_type": STATEMENT,
        "subject": [{"name": "x", "digest": {"sha256": ROOT}}],
        "predicateType": PREDICATE,
        "predicate": {"policy": {"purpose": PURPOSE}},
    }
    return json.dumps(body | changes).encode()


def test_a_signed_statement_holds_and_says_who_signed():
    found = check(sign(PAYLOAD_BYTES, KEY), KEY.public_key(), ROOT)
    assert found.predicate == {"policy": {"purpose": PURPOSE, "exit_code": 0}, "run_id": RUN_ID}
    assert len(found.signer) == 64
    assert check(envelope(about()), KEY.public_key(), ROOT).predicate


def test_securesystemslib_accepts_ours_and_we_accept_its_own():
    signer = CryptoSigner(KEY)
    ours = json.loads(sign(PAYLOAD_BYTES, KEY))
    ours["signatures"][0]["keyid"] = signer.public_key.keyid
    assert Envelope.from_dict(ours).verify([signer.public_key], 1)
    theirs = Envelope(PAYLOAD_BYTES, PAYLOAD, {})
    theirs.sign(signer)
    assert check(json.dumps(theirs.to_dict()).encode(), KEY.public_key(), ROOT)


def test_openssl_verifies_the_signature(tmp_path):
    body = json.loads(sign(PAYLOAD_BYTES, KEY))
    (tmp_path / "sig").write_bytes(base64.b64decode(body["signatures"][0]["sig"]))
    (tmp_path / "message").write_bytes(
        b"DSSEv1 28 application/vnd.in-toto+json %d %s" % (len(PAYLOAD_BYTES), PAYLOAD_BYTES)
    )
    (tmp_path / "pub.pem").write_bytes(
        KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    command = "openssl pkeyutl -verify -pubin -inkey pub.pem -rawin -in message -sigfile sig"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True)
    assert "Verified Successfully" in done.stdout


FORGERIES = {
    "another bundle": (envelope(statement(OTHER, RUN_ID, {})), "not among its subjects"),
    "another key": (envelope(key=STRANGER), "no signature of this key holds"),
    "no signature": (envelope(sigs=[]), "no signature of this key holds"),
    "an empty signature": (envelope(sigs=[{"sig": ""}]), "no signature of this key holds"),
    "a short signature": (envelope(sigs=[{"sig": "AAAA"}]), "no signature of this key holds"),
    "signatures as an object": (envelope(sigs={"sig": "AAAA"}), "no signature of this key holds"),
    "a signature over the bare payload": (
        envelope(sigs=[{"sig": base64.b64encode(KEY.sign(PAYLOAD_BYTES)).decode()}]),
        "no signature of this key holds",
    ),
    "another payload type": (envelope(kind="text/plain"), "another payload type"),
    "a type that was not signed": (
        envelope(signed_kind="text/plain"),
        "no signature of this key holds",
    ),
    "an exchanged payload": (
        json.dumps(
            json.loads(sign(PAYLOAD_BYTES, KEY))
            | {"payload": base64.b64encode(statement(OTHER, RUN_ID, {})).decode()}
        ).encode(),
        "no signature of this key holds",
    ),
    "another statement type": (envelope(about(_type="x")), "no in-toto Statement v1"),
    "another predicate type": (envelope(about(predicateType="x")), "another predicate type"),
    "no subject": (envelope(about(subject=[])), "not among its subjects"),
    "a subject as an object": (
        envelope(about(subject={"digest": {"sha256": ROOT}})),
        "not among its subjects",
    ),
    "a digest in another place": (
        envelope(about(subject=[{"name": ROOT, "digest": {"sha512": ROOT}}])),
        "not among its subjects",
    ),
    "half a digest": (
        envelope(about(subject=[{"digest": {"sha256": ROOT[:32]}}])),
        "not among its subjects",
    ),
    "a digest in the predicate only": (
        envelope(about(subject=[], predicate={"policy": {"purpose": PURPOSE}, "sha256": ROOT})),
        "not among its subjects",
    ),
    "no policy": (envelope(about(predicate={})), "another purpose"),
    "another purpose": (
        envelope(about(predicate={"policy": {"purpose": "release"}})),
        "another purpose",
    ),
    "policy outside": (
        envelope(about(predicate={}, policy={"purpose": PURPOSE})),
        "no in-toto Statement v1",
    ),
    "a doubled key": (envelope(about().replace(b"{", b'{"_type": "x", ', 1)), "duplicate key"),
    "broken JSON": (b"{", "not JSON"),
    "broken base64": (
        envelope().replace(b'"payload": "', b'"payload": "*'),
        "not base64",
    ),
    "a list": (b"[]", "another payload type"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forgeries_are_refused_for_the_right_reason(forgery):
    forged, reason = FORGERIES[forgery]
    with pytest.raises(IntegrityError, match=reason):
        check(forged, KEY.public_key(), ROOT)


def test_only_ed25519_keys_are_taken_and_errors_show_nothing_of_them(tmp_path):
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    for name, content in {"ec": pem, "text": b"correct-horse", "empty": b""}.items():
        (tmp_path / name).write_bytes(content)
        for load in (private_key, public_key):
            with pytest.raises(UsageError, match="no ed25519 key") as error:
                load(tmp_path / name)
            assert "horse" not in str(error.value)


def rx(*words):
    command = [sys.executable, "-m", "rx_tools", *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.fixture
def signed(tmp_path):
    """A bundle, and key pairs made by openssl (me) and by ssh-keygen (ssh)."""
    shutil.copytree(TRUE, tmp_path / "out")
    for name in ("me", "other"):
        for command in (
            f"openssl genpkey -algorithm ed25519 -out {name}.pem",
            f"openssl pkey -in {name}.pem -pubout -out {name}.pub.pem",
        ):
            subprocess.run(command.split(), cwd=tmp_path, check=True)
    for name in ("ssh", "ssh-other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name]
        subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


def test_sign_and_verify_from_the_command_line(signed):
    missing = rx("verify", signed / "out", "--key", signed / "me.pub.pem")
    assert (missing.returncode, "there is none beside" in missing.stdout) == (3, True)
    assert rx("sign", signed / "out", "--key", signed / "me.pem").returncode == 0
    assert rx("verify", signed / "out", "--key", signed / "me.pub.pem").returncode == 0
    wrong = rx("verify", signed / "out", "--key", signed / "other.pub.pem")
    assert (wrong.returncode, "no signature of this key holds" in wrong.stdout) == (4, True)
    again = rx("sign", signed / "out", "--key", signed / "other.pem")
    assert (again.returncode, "already published" in again.stderr) == (4, True)


def test_an_attestation_of_another_run_does_not_pass(signed):
    shutil.copy(TRUE.with_name("resumed-0.1.zip"), signed / "two")
    assert rx("sign", signed / "out", "--key", signed / "me.pem").returncode == 0
    shutil.copy(signed / "out.dsse.json", signed / "two.dsse.json")
    wrong = rx("verify", signed / "two", "--key", signed / "me.pub.pem")
    assert (wrong.returncode, "not among its subjects" in wrong.stdout) == (4, True)


def test_ssh_keygen_signs_and_verifies(signed):
    assert rx("sign", signed / "out", "--ssh", "--key", signed / "ssh").returncode == 0
    assert rx("verify", signed / "out", "--key", signed / "ssh.pub").returncode == 0
    wrong = rx("verify", signed / "out", "--key", signed / "ssh-other.pub")
    assert (wrong.returncode, "no signature of this key holds" in wrong.stdout) == (4, True)
    allowed = 'me namespaces="rx-bundle" ' + (signed / "ssh.pub").read_text()
    (signed / "allowed").write_text(allowed)
    command = "ssh-keygen -Y verify -f allowed -I me -n rx-bundle -s out.statement.json.sig"
    payload = (signed / "out.statement.json").read_bytes()
    assert subprocess.run(command.split(), cwd=signed, input=payload).returncode == 0


def test_an_ssh_signature_for_another_purpose_or_text_does_not_pass(signed):
    assert rx("sign", signed / "out", "--ssh", "--key", signed / "ssh").returncode == 0
    payload, place = signed / "out.statement.json", signed / "out.statement.json.sig"
    command = ["ssh-keygen", "-Y", "sign", "-n", "file", "-f", signed / "ssh"]
    other = subprocess.run(command, input=payload.read_bytes(), capture_output=True, check=True)
    good = place.read_bytes()
    place.unlink()
    place.write_bytes(other.stdout)
    assert rx("verify", signed / "out", "--key", signed / "ssh.pub").returncode == 4
    place.write_bytes(good)
    payload.write_bytes(payload.read_bytes().replace(b"exit_code", b"exit-code"))
    assert rx("verify", signed / "out", "--key", signed / "ssh.pub").returncode == 4


def test_a_contradicted_bundle_is_not_signed(signed):
    (signed / "out" / "spec.json").write_bytes(b"{}")
    refused = rx("sign", signed / "out", "--key", signed / "me.pem")
    assert (refused.returncode, "it is not signed" in refused.stderr) == (4, True)
    assert not (signed / "out.dsse.json").exists()
