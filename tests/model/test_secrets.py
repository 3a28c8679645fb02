"""Credentials are found wherever they hide; digests and names of variables are no alarm."""

import pytest

from rx_tools.model.secrets import redacted, secrets_in

SECRETS = [
    "TINKER_API_KEY=tml-" + "a1b2c3d4" * 4,
    '{"api_key": "q8Zk3mP0vT5x"}',
    r'"{\"api_key\": \"q8Zk3mP0vT5x\"}"',
    "headers = {'Authorization': 'Bearer abcDEF123456'}",
    "Modal-Key: wk-" + "A" * 22,
    "Modal-Secret=abcdefgh1234",
    "https://user:hunter2@example.org/x",
    "https://bucket.example.org/o?X-Amz-Signature=0123456789abcdef",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLWhlcmU",
    "PASSWORD=hunter2hunter2",
    "first line\nMODAL_PROXY_TOKEN_SECRET=abcdefghijkl",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    'password = "correct-horse"',
]

HARMLESS = [
    '"sha256": "' + "0123456789abcdef" * 4 + '"',
    "key = os.environ['TINKER_API_KEY']",
    'api_key = "TINKER_API_KEY"',
    "Modal-Key: $MODAL_PROXY_TOKEN_ID",
    "export TINKER_API_KEY=$KEY",
    'api_key="<your key>"',
    '"api_key": "[redacted]"'.replace("[redacted]", "redacted"),
    "tinker://716daf64-43a3-49cf-9306-cebe87f287b6:train:0/weights/final",
    "https://example.org/attachments/3f/scored.jsonl",
    "token_mean=2.095941234567",
    '"metric": "held-out token_mean NLL (nats per assistant loss token)"',
    "the secret of a good learning rate",
    "task-based, ask-me-anything-really-anything",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_credential_is_found_and_redacted(text):
    assert list(secrets_in(text))
    assert not list(secrets_in(redacted(text)))


@pytest.mark.parametrize("text", HARMLESS)
def test_no_false_alarm(text):
    assert list(secrets_in(text)) == []
    assert redacted(text) == text


def test_redaction_keeps_everything_else():
    line = 'before {"api_key": "q8Zk3mP0vT5x"} after'
    assert redacted(line) == 'before {"api_key": "[redacted]"} after'
