"""Sequence numbers decide the order, and nothing runs twice, whatever the network does."""

import json
import urllib.request
from urllib.error import HTTPError

import pytest

from rx_tools.local import wire

from .conftest import MODEL


@pytest.fixture
def post(running):
    def send(path: str, body, media_type: str = "application/json"):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{running.base_url}/api/v1/{path}", content,
            {"x-api-key": running.api_key, "content-type": media_type},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.headers["content-type"], response.read()

    return send


@pytest.fixture
def ask(post):
    """JSON in, JSON out."""
    return lambda path, body: json.loads(post(path, body)[1])


@pytest.fixture
def model(ask):
    session = ask("create_session", {"tags": []})["session_id"]
    created = ask(
        "create_model",
        {"session_id": session, "model_seq_id": 0, "base_model": MODEL, "lora_config": {"rank": 2}},
    )
    return ask("retrieve_future", {"request_id": created["request_id"]})["model_id"]


def scoring(model: str, turn: int) -> bytes:
    """A forward_backward of one datum."""
    pb = wire.messages()
    message = pb.ForwardBackwardRequest(model_id=model, seq_id=turn, loss_fn="cross_entropy")
    datum = message.data.add()
    datum.model_input.add().encoded_text.tokens = (1).to_bytes(4, "little") * 3
    targets = datum.loss_fn_inputs["target_tokens"]
    targets.dense, targets.dtype = (2).to_bytes(8, "little") * 3, pb.DTYPE_INT64
    body: bytes = message.SerializeToString()
    return body


def submit_scoring(post, model: str, turn: int) -> str:
    _, told = post("forward_backward", scoring(model, turn), wire.MEDIA_TYPE)
    return json.loads(told)["request_id"]


def test_operations_run_by_number_and_not_by_arrival(ask, post, model):
    step = {"model_id": model, "seq_id": 2, "adam_params": {}}
    late = ask("optim_step", step)["request_id"]
    first = submit_scoring(post, model, 1)
    assert post("retrieve_future", {"request_id": first})[0] == wire.MEDIA_TYPE
    metrics = ask("retrieve_future", {"request_id": late})["metrics"]
    assert metrics["update_successful:mean"] == 1


def test_a_repeated_submission_gets_the_first_answer_and_runs_nothing(ask, post, running, model):
    ids = {submit_scoring(post, model, 1) for _ in range(3)}
    step = {"model_id": model, "seq_id": 2, "adam_params": {}}
    ids |= {ask("optim_step", step)["request_id"] for _ in range(3)}
    assert len(ids) == 2
    answers = {post("retrieve_future", {"request_id": each})[1] for each in [*ids, *ids]}
    assert len(answers) == 2
    request = urllib.request.Request(
        f"{running.base_url}/api/v1/rx/observe?model_id={model}",
        headers={"x-api-key": running.api_key},
    )
    assert json.loads(urllib.request.urlopen(request, timeout=10).read())["step"] == 1


def test_a_repeated_creation_is_the_same_model(ask):
    session = ask("create_session", {"tags": []})["session_id"]
    body = {"session_id": session, "model_seq_id": 4, "base_model": MODEL}
    ids = {ask("create_model", body)["request_id"] for _ in range(2)}
    assert len(ids) == 1
    told = ask("retrieve_future", {"request_id": ids.pop()})
    assert told["model_id"] == f"{session}:train:4"


def test_more_than_256_waiting_operations_are_429(ask, model):
    for turn in range(2, 258):
        ask("optim_step", {"model_id": model, "seq_id": turn, "adam_params": {}})
    with pytest.raises(HTTPError) as caught:
        ask("optim_step", {"model_id": model, "seq_id": 258, "adam_params": {}})
    assert caught.value.code == 429


def test_an_unknown_future_is_410(ask):
    with pytest.raises(HTTPError) as caught:
        ask("retrieve_future", {"request_id": "nothing"})
    assert caught.value.code == 410


def test_what_waited_for_a_model_that_is_gone_says_that_it_was_lost(ask, model):
    late = ask("optim_step", {"model_id": model, "seq_id": 2, "adam_params": {}})["request_id"]
    ask(f"sessions/{model.partition(':')[0]}/finish", {"reason": {"type": "success"}})
    told = ask("retrieve_future", {"request_id": late})
    assert told["category"] == "server"
    assert told["error"].startswith("model_lost")


def test_a_finished_session_takes_no_more(ask, model):
    session = model.partition(":")[0]
    ask(f"sessions/{session}/finish", {"reason": {"type": "success"}})
    ask(f"sessions/{session}/finish", {"reason": {"type": "success"}})
    for path, body in (
        ("session_heartbeat", {"session_id": session}),
        ("optim_step", {"model_id": model, "seq_id": 1, "adam_params": {}}),
        ("create_model", {"session_id": session, "model_seq_id": 9, "base_model": MODEL}),
    ):
        with pytest.raises(HTTPError) as caught:
            ask(path, body)
        assert caught.value.code == 409
