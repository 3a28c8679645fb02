"""Whatever arrives, the answer is a sentence and the service lives on."""

import http.client
import json
import socket
from urllib.parse import urlsplit

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tinker import RequestFailedError, types

from rx_tools.local import wire
from rx_tools.local.routes import ROUTES

from .conftest import MODEL, datums

LIVES = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def ask(running, method, path, body=b"", **headers):
    """Status and JSON of one raw request, with the right key unless told otherwise."""
    connection = http.client.HTTPConnection(urlsplit(running.base_url).netloc, timeout=20)
    try:
        connection.request(method, path, body, {"x-api-key": running.api_key} | headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def raw(running, text: bytes) -> bytes:
    """The first bytes that the server answers to raw bytes."""
    place = urlsplit(running.base_url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(text)
        return connection.recv(4096)


@pytest.fixture
def model(client):
    return client.create_lora_training_client(base_model=MODEL, rank=2).result(timeout=30)


@pytest.fixture(autouse=True)
def lives_on(running):
    yield
    assert ask(running, "GET", "/api/v1/healthz")[0] == 200


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "/api/v1/nothing", 404), ("GET", "/", 404), ("GET", "/api/v1/", 404),
    ("POST", "/api/v1/training_runs/../../etc/passwd", 404),
    ("GET", "/api/v1/rx/files/..%2F..%2Fx/y/z", 404),
    ("GET", "/api/v1/create_model", 405), ("DELETE", "/api/v1/healthz", 405),
    ("GET", "/api/v1/training_runs/unknown", 404),
    ("DELETE", "/api/v1/training_runs/a:train:0/checkpoints/weights/x", 404),
    ("GET", "/api/v1/training_runs?limit=x", 422),
    ("GET", "/api/v1/training_runs?offset=" + "9" * 5000, 422),
])  # fmt: skip
def test_unknown_places_are_refused_with_a_sentence(running, method, path, status):
    answered, told = ask(running, method, path)
    assert answered == status
    assert len(told["detail"]) > 5


@pytest.mark.parametrize("headers", [{"x-api-key": ""}, {"x-api-key": "tml-local-wrong"}])
def test_a_wrong_key_is_401(running, headers):
    assert ask(running, "GET", "/api/v1/get_server_capabilities", **headers)[0] == 401


def test_a_foreign_host_header_is_refused(running):
    assert ask(running, "GET", "/api/v1/healthz", Host="evil.example")[0] == 421


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b'"x"', b'{"session_id": NaN}', b"[" * 100_000, b"\xff\xfe", b"null",
])  # fmt: skip
def test_bodies_that_are_no_json_object_are_400(running, body):
    assert ask(running, "POST", "/api/v1/session_heartbeat", body)[0] == 400


@pytest.mark.parametrize("text", [
    b"nonsense\r\n\r\n", b"PATCH /api/v1/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
])  # fmt: skip
def test_requests_that_are_none_are_told_so(running, text):
    assert raw(running, text).split()[1] in {b"400", b"401", b"404", b"413", b"414", b"501", b"505"}


def test_a_gibibyte_is_refused_before_it_is_sent(running):
    head = (
        f"POST /api/v1/forward_backward HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: {running.api_key}"
        f"\r\nContent-Length: {1 << 30}\r\n\r\n"
    )
    assert raw(running, head.encode()).startswith(b"HTTP/1.1 413")


def test_a_body_of_unknown_length_is_refused(running):
    head = (
        b"POST /api/v1/telemetry HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    assert raw(running, head).startswith(b"HTTP/1.1 411")


def test_a_zstd_bomb_is_refused_and_broken_zstd_too(running):
    bomb = zstandard.ZstdCompressor().compress(bytes(100 << 20))
    path = "/api/v1/forward_backward"
    assert ask(running, "POST", path, bomb, **{"content-encoding": "zstd"})[0] == 413
    assert ask(running, "POST", path, b"no frame", **{"content-encoding": "zstd"})[0] == 400


def test_a_compressed_request_is_understood(running, model):
    pb = wire.messages()
    message = pb.ForwardBackwardRequest(model_id=model.model_id, seq_id=1, loss_fn="cross_entropy")
    body = zstandard.ZstdCompressor().compress(message.SerializeToString())
    status, told = ask(
        running, "POST", "/api/v1/forward_backward", body, **{"content-encoding": "zstd"}
    )
    assert status == 200
    failed = ask(
        running, "POST", "/api/v1/retrieve_future",
        json.dumps({"request_id": told["request_id"]}).encode(),
    )[1]  # fmt: skip
    assert (failed["category"], failed["error"]) == ("user", "there is no datum in the request")


@LIVES
@given(body=st.binary(max_size=300))
def test_arbitrary_bytes_are_no_forward_backward(running, body):
    assert ask(running, "POST", "/api/v1/forward_backward", body)[0] in (400, 404)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip
FIELDS = (
    "session_id", "model_id", "model_seq_id", "seq_id", "path", "optimizer", "base_model",
    "lora_config", "optimizer_config", "adam_params", "optimizer_params", "request_id",
    "sampling_session_id", "prompt", "sampling_params", "num_samples", "ttl_seconds", "tinker_path",
)  # fmt: skip
POSTS = sorted(path for method, path in ROUTES if method == "POST" and "*" not in path)


@LIVES
@given(
    path=st.sampled_from(POSTS),
    body=st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES, max_size=8),
)
def test_arbitrary_json_never_breaks_a_route(running, path, body):
    content = json.dumps(body).encode()
    assert ask(running, "POST", f"/api/v1/{path}", content)[0] < 500


@LIVES
@given(body=st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES, max_size=8))
def test_arbitrary_creations_fail_in_their_future_as_the_users_fault(running, client, body):
    session = client.holder.get_session_id()
    body |= {"session_id": session, "model_seq_id": int(np.random.default_rng().integers(1 << 30))}
    for path in ("create_model", "load_weights"):
        status, told = ask(running, "POST", f"/api/v1/{path}", json.dumps(body).encode())
        if status == 200:
            wanted = json.dumps({"request_id": told["request_id"]}).encode()
            _, answer = ask(running, "POST", "/api/v1/retrieve_future", wanted)
            assert answer.get("category", "user") == "user"


def changed(**inputs):
    whole = {"target_tokens": np.array([1, 2, 3]), "weights": np.ones(3, np.float32)} | inputs
    return types.Datum(
        model_input=types.ModelInput.from_ints([1, 2, 3]),
        loss_fn_inputs={name: value for name, value in whole.items() if value is not None},
    )


def tokens(*ids):
    count = len(ids)
    return types.Datum(
        model_input=types.ModelInput.from_ints(list(ids)),
        loss_fn_inputs={
            "target_tokens": np.ones(count, int),
            "weights": np.ones(count, np.float32),
        },
    )


@pytest.mark.parametrize(("datum", "words"), [
    (changed(target_tokens=np.array([1, 2])), "2 target_tokens for 3 tokens"),
    (changed(target_tokens=np.array([1, 2, 2048])), "target_tokens must be in 0 … 2047"),
    (changed(target_tokens=np.ones(3, np.float32)), "target_tokens must be integers"),
    (changed(target_tokens=None), "target_tokens are missing"),
    (changed(weights=np.ones(2, np.float32)), "weights must be 3 numbers"),
    (changed(weights=np.array([1, np.nan, 1], np.float32)), "weights must be finite"),
    (changed(advantages=np.ones(3, np.float32)), "unknown loss inputs: advantages"),
    (tokens(5, -1), "tokens must be in 0 … 2047"), (tokens(5, 99_999), "tokens must be in"),
    (tokens(*[7] * 20_480), "20480 tokens; expected 1 to 2048"),
])  # fmt: skip
def test_wrong_datums_fail_in_the_future_and_the_model_stays_usable(model, datum, words):
    with pytest.raises(RequestFailedError, match=f"datum 1: {words}") as caught:
        model.forward_backward([*datums(1, [4]), datum], "cross_entropy").result(timeout=30)
    assert caught.value.category.value == "user"
    model.forward_backward(datums(1, [4]), "cross_entropy").result(timeout=30)
    done = model.optim_step(types.AdamParams()).result(timeout=30)
    assert done.metrics["update_successful:mean"] == 1


def test_unknown_losses_and_settings_are_refused(model):
    with pytest.raises(RequestFailedError, match="unknown loss 'dro'"):
        model.forward(datums(1, [4]), "dro").result(timeout=30)
    with pytest.raises(RequestFailedError, match="no setting"):
        model.forward(datums(1, [4]), "cross_entropy", {"beta": 1.0}).result(timeout=30)


def test_ranks_out_of_range_are_refused(client):
    for rank in (0, 129):
        with pytest.raises(RequestFailedError, match=f"rank {rank}"):
            client.create_lora_training_client(base_model=MODEL, rank=rank).result(timeout=30)


def test_a_checkpoint_name_that_is_a_path_is_refused(model):
    for name in ("../x", "a/b", ".hidden", "x" * 200, "naïve"):
        with pytest.raises(RequestFailedError, match="checkpoint name"):
            model.save_state(name).result(timeout=30)
