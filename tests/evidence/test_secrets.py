"""Credentials do not get out: in any disguise, at any place, through any door.

Every planted value is put together here from pieces, so that this file holds none itself.
"""

import base64
import json
import os
import random
import subprocess
import sys
import urllib.parse
import uuid
from pathlib import Path

import numpy as np
import pytest

from rx_tools.errors import IntegrityError
from rx_tools.evidence.bundle import bundle
from rx_tools.evidence.ledger import Ledger
from rx_tools.evidence.publish import publish
from rx_tools.evidence.secrets import environment_secrets, redact, scan
from tests.evidence.small_run import SmallRun

VALUE = "s3cr/t+v4lue with~ödd" + '"signs'
KNOWN = {"TINKER_API_KEY": VALUE}
ALNUM = "Zk3Jq9Lm2Xw7Rt5Vb8Nc4Hd6Fg1Sp0YaQeWu"
HEX = "0123456789abcdef" * 4


def encoded(prefix=b"", suffix=b"", encode=base64.b64encode):
    return encode(prefix + VALUE.encode() + suffix)


DISGUISES = {
    "raw": VALUE.encode(),
    "last line without newline": b"one\ntwo " + VALUE.encode(),
    "json": json.dumps({"note": VALUE}, ensure_ascii=False).encode(),
    "json ascii": json.dumps({"note": VALUE}).encode(),
    "json in json": json.dumps({"log": json.dumps({"note": VALUE})}).encode(),
    "json in json in json": json.dumps([json.dumps([json.dumps([VALUE])])]).encode(),
    "json with escaped letters": b'{"n": "' + b"".join(b"\\u%04x" % ord(c) for c in VALUE) + b'"}',
    "python bytes": repr(VALUE.encode()).encode(),
    "url quoted": urllib.parse.quote(VALUE).encode(),
    "url quoted fully": urllib.parse.quote(VALUE, safe="").encode(),
    "url quoted lower": urllib.parse.quote(VALUE, safe="").lower().encode() + VALUE.encode(),
    "url quoted plus": urllib.parse.urlencode({"q": VALUE}).encode(),
    "url quoted twice": urllib.parse.quote(urllib.parse.quote(VALUE)).encode(),
    "base64": encoded(),
    "base64 after one byte": encoded(b":"),
    "base64 after two bytes": encoded(b"u:", b"tail"),
    "base64 of basic auth": encoded(b"user:"),
    "base64url": encoded(b"key:", encode=base64.urlsafe_b64encode),
    "hex": VALUE.encode().hex().encode(),
    "hex upper": VALUE.encode().hex().upper().encode(),
    "utf-16": VALUE.encode("utf-16"),
    "utf-16 big endian": VALUE.encode("utf-16-be"),
    "reversed": VALUE.encode()[::-1],
    "among binary": os.urandom(5000) + VALUE.encode() + os.urandom(5000),
}

LOOKS = {
    "aws": "AKIA" + "ABCDEFGH12345678",
    "github": "ghp_" + ALNUM,
    "github fine-grained": "github_pat_" + ALNUM,
    "gitlab": "glpat-" + ALNUM[:20],
    "slack": "xoxb-" + "1234567890-" + ALNUM,
    "stripe": "sk_live_" + ALNUM[:24],
    "openai": "sk-proj-" + ALNUM,
    "anthropic": "sk-ant-api03-" + ALNUM,
    "google": "AIza" + ALNUM[:35],
    "google oauth": "ya29." + ALNUM,
    "hugging face": "hf_" + ALNUM[:34],
    "tinker": "tml-" + ALNUM,
    "modal token": "ak-" + ALNUM[:22],
    "modal proxy": "wk-" + ALNUM[:22],
    "modal proxy secret": "ws-" + ALNUM[:22],
    "wandb": "wandb_v1_" + ALNUM,
    "pypi": "pypi-AgEIcHlwaS5vcmc" + ALNUM + ALNUM,
    "npm": "npm_" + ALNUM,
    "sendgrid": "SG." + ALNUM[:22] + "." + ALNUM,
    "twilio": "SK" + HEX[:32],
    "databricks": "dapi" + HEX[:32],
    "digitalocean": "dop_v1_" + HEX,
    "docker": "dckr_pat_" + ALNUM[:27],
    "replicate": "r8_" + ALNUM,
    "groq": "gsk_" + ALNUM,
    "age": "AGE-SECRET-KEY-1" + ALNUM.upper(),
    "jwt": "eyJ" + ALNUM + ".eyJ" + ALNUM + "." + ALNUM,
    "bearer": "Bearer " + ALNUM,
    "basic": "Authorization: Basic " + base64.b64encode(b"user:password9").decode(),
    "private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "url with password": "postgres://user:" + "hunter2@db.example.org/x",
    "url with user": "https://" + ALNUM + "@git.example.org/x",
    "signed url": "https://b.example.org/x?X-Amz-Signature=" + HEX,
    "sas url": "https://b.example.org/x?sv=1&sig=" + ALNUM,
    "signed url in html": "https://b.example.org/x?a=1&amp;sig=" + ALNUM,
    "modal header": "Modal-Secret: " + ALNUM,
    "header in json": '{"X-API-Key": "' + ALNUM + '"}',
    "member": '{"api_key": "' + "correct-horse" + '"}',
    "password": '{"password": "' + "hunter2" + '"}',
    "member in python": "password = '" + "hunter2" + "'",
    "environment in python": 'os.environ["API_KEY"] = "' + ALNUM + '"',
    "member in json in json": json.dumps({"log": json.dumps({"client_secret": "hunter22"})}),
    "dotenv": "A=1\nTINKER_API_KEY=" + "correct-horse",
    "dotenv export": "export MODAL_PROXY_TOKEN_SECRET='" + "correct-horse'",
    "azure": "AccountName=x;AccountKey=" + ALNUM + "==",
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_known_value_is_found_in_every_disguise(disguise):
    assert scan(DISGUISES[disguise], KNOWN)
    assert scan(DISGUISES[disguise], {}) == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("frame", ["{}", "x\n{}", '{{"log": "line\\n{}"}}', "({})\n"])
def test_what_looks_like_a_credential_is_found_without_knowing_it(look, frame):
    text = frame.format(LOOKS[look])
    hits = scan(text.encode(), {})
    assert len(hits) >= 1
    assert len({hit.line for hit in hits}) == 1
    assert not any(piece in str(hits) for piece in (ALNUM[:6], HEX[:8], "hunter2", "horse"))


@pytest.mark.parametrize("look", LOOKS)
def test_the_redactor_leaves_the_rest_and_none_of_the_secret(look):
    shown = redact(f"before {LOOKS[look]} after", {})
    assert shown.startswith("before ")
    assert shown.endswith("after")
    assert "[redacted" in shown
    assert not scan(shown.encode(), {})
    assert redact(shown, {}) == shown


@pytest.mark.parametrize("disguise", DISGUISES)
def test_the_redactor_knows_the_disguises(disguise):
    text = DISGUISES[disguise].decode("utf-8", "surrogateescape")
    if "\ud800" <= max(text) <= "\udfff" or "\0" in text:
        return
    assert not scan(redact(text, KNOWN).encode(), KNOWN)


@pytest.mark.parametrize("between", [" ", "\n", ", ", "' ", '", "'])
@pytest.mark.parametrize("look", LOOKS)
def test_the_second_of_two_neighbours_is_redacted_as_well(look, between):
    second = LOOKS[look].replace("hunter2", "jumper3").replace("horse", "mules")
    shown = redact(f"{LOOKS[look]}{between}{second}{between}end", {})
    assert not any(piece in shown for piece in ("hunter2", "jumper3", "horse", "mules", ALNUM[9:]))
    assert shown.endswith("end")


def harmless():
    draw = random.Random(7)
    digests = [draw.randbytes(32).hex() for _ in range(20_000)]
    yield (
        "digests",
        json.dumps([{"sha256": d, "token_sha256": d} for d in digests]),
    )
    yield "commits", "\n".join(f"code_revision={d[:40]} ({d[:7]})" for d in digests)
    yield (
        "ids",
        "\n".join(
            f"tinker://{uuid.UUID(d[:32])}:train:0/weights/final-{d[:8]} run-20261129T201000Z"
            for d in digests
        ),
    )
    yield "figures", json.dumps({f"token_mean_{n}": draw.random() for n in range(20_000)})
    yield "members", json.dumps({"n_tokens": 59503, "tokenizer": "Qwen/Qwen3.5-2B", "token": 17})
    yield (
        "prose",
        "Basic idea: the token: a unit. The secret is out, bearer of news. risk-averse",
    )
    yield "script", 'key = os.environ["TINKER_API_KEY"]\ntoken = tokenizer.encode("secretly")\n'
    yield "shell", 'export TINKER_API_KEY="$KEY"\ncurl -H "Modal-Key: $MODAL_PROXY_TOKEN_ID" $URL\n'
    yield "urls", "https://example.org/attachments/1?page=2#x mailto:a@b.org git@github.com:a/b.git"


@pytest.mark.parametrize(("kind", "text"), list(harmless()), ids=lambda value: value[:12])
def test_there_is_no_alarm_on_what_evidence_is_made_of(kind, text):
    assert scan(text.encode(), KNOWN) == []
    assert redact(text, KNOWN) == text


def test_there_is_no_alarm_on_tensors():
    noise = np.random.default_rng(7).normal(size=500_000).astype("<f4").tobytes()
    for data in (noise, base64.b64encode(noise), base64.urlsafe_b64encode(noise)):
        assert scan(data, KNOWN) == []


def test_the_real_documents_raise_no_alarm():
    for path in (Path(__file__).parents[1] / "fixtures").rglob("*.*"):
        assert not path.is_file() or scan(path.read_bytes(), {}) == []


def test_a_hit_tells_line_and_length(tmp_path):
    text = "one\ntwo " + LOOKS["github"]
    (hit,) = scan(text.encode(), {})
    assert (hit.rule, hit.line, hit.offset, hit.length) == ("github-token", 2, 4, 40)


def test_only_variables_named_like_credentials_count():
    environment = {
        "TINKER_API_KEY": "a" * 8,
        "MODAL_PROXY_TOKEN_ID": "b" * 8,
        "RUNS_PROXY_TOKEN_SECRET": "c" * 8,
        "SHORT_TOKEN": "abc",
        "SSH_KEY": "/home/user/key",
        "HOME": "/home/user",
        "KEYBOARD": "querty-us",
    }
    assert sorted(environment_secrets(environment)) == [
        "MODAL_PROXY_TOKEN_ID",
        "RUNS_PROXY_TOKEN_SECRET",
        "TINKER_API_KEY",
    ]


@pytest.mark.parametrize("form", ["raw", "base64 of basic auth", "json in json"])
def test_publishing_is_blocked_and_nothing_is_left(tmp_path, monkeypatch, form):
    monkeypatch.setenv("TINKER_API_KEY", VALUE)
    with pytest.raises(IntegrityError, match=r"a\.txt holds a secret: \S+ at line 1") as error:
        publish(tmp_path, "a.txt", DISGUISES[form])
    assert not scan(str(error.value).encode())
    assert not list(tmp_path.iterdir())


def test_bundling_is_blocked(tmp_path):
    run_dir = SmallRun(tmp_path / "run").build()
    (run_dir / "evidence" / "notes.txt").write_text("key: " + LOOKS["hugging face"])
    with pytest.raises(IntegrityError, match=r"notes\.txt holds a secret: huggingface-token"):
        bundle(run_dir, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_ledger_holds_no_credential(tmp_path, monkeypatch):
    monkeypatch.setenv("TINKER_API_KEY", VALUE)
    data = {"reason": f"refused {VALUE}", "inner": [{"password": "hunter2"}], "arm": "a"}
    with Ledger.create(tmp_path / "ledger.jsonl", "run-1") as ledger:
        line = ledger.append("arm_stopped", data)
    assert line.data == {"reason": "[redacted]", "inner": [{"password": "[redacted]"}], "arm": "a"}
    assert not scan((tmp_path / "ledger.jsonl").read_bytes())


def test_no_command_prints_a_credential(tmp_path):
    environment = os.environ | {"TINKER_API_KEY": VALUE, "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, "-m", "rx_tools", "verify", "--debug", tmp_path / VALUE[:5] / VALUE]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "[redacted: environment-value]" in done.stderr
    assert VALUE not in done.stderr


@pytest.mark.parametrize("look", LOOKS)
def test_redacted_json_is_still_json(look):
    body = {"log": f"one\n{LOOKS[look]}\ntwo", "n": [1, {"inner": LOOKS[look]}]}
    for indent in (None, 2):
        shown = json.loads(redact(json.dumps(body, indent=indent), {}))
        assert shown.keys() == body.keys()
        assert not scan(json.dumps(shown).encode(), {})


@pytest.mark.parametrize("known", [VALUE, "plain-value-of-key"])
def test_redacted_json_with_a_known_value_is_still_json(known):
    body = json.dumps({"log": f"x {known} y", known: 1}, indent=2)
    shown = json.loads(redact(body, {"A_KEY": known}))
    assert shown["log"] == "x [redacted: environment-value] y"
