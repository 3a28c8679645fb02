"""The adapter with the real SDK against servers that behave like the ones users met."""

import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rx_tools.errors import ExitCode, UsageError
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    CapacityError,
    ModelConfig,
    ModelLostError,
    NoAnswerError,
    NotOfferedError,
    OptimizerConfig,
    RefusedError,
    SessionClosedError,
    UnreachableError,
)
from rx_tools.runner.wire.connect import connect, missing_variables
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.tinker_service import TinkerService
from tests.runner.stub_server import StubServer

DIMUON = ModelConfig("tiny", 4, OptimizerConfig("dimuon", {"beta1": 0.9}), seed=3)
SHORT = Limits(probe=2.0, session=5.0, create=2.0, compute=6.0, save=6.0, close=1.0)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


@pytest.fixture
def service(stub: StubServer) -> Iterator[TinkerService]:
    made = TinkerService(
        stub.base_url,
        "tml-test-key",
        headers={"Modal-Key": "wk", "Modal-Secret": "ws"},
        limits=SHORT,
    )
    yield made
    made.close()


def sent(stub: StubServer, path: str) -> dict[str, object]:
    return next(body for seen, _, body in stub.requests if seen == path)


def test_creation_names_seed_rank_and_optimizer_on_the_wire(
    stub: StubServer, service: TinkerService
) -> None:
    model = service.create(DIMUON)
    body = sent(stub, "/api/v1/create_model")
    assert model.model_id == "s1:train:0"
    assert body["optimizer_config"] == {"type": "dimuon", "version": 1}
    assert body["lora_config"]["rank"] == 4 and body["lora_config"]["seed"] == 3


def test_every_request_carries_the_proxy_headers_and_none_is_telemetry(
    stub: StubServer, service: TinkerService
) -> None:
    service.create(DIMUON).info()
    assert all(headers.get("modal-key") == "wk" for _, headers, _ in stub.requests)
    assert all(headers.get("modal-secret") == "ws" for _, headers, _ in stub.requests)
    assert "/api/v1/telemetry" not in stub.paths()


def test_a_server_that_echoes_no_optimizer_is_not_taken_for_adamw(
    stub: StubServer, service: TinkerService
) -> None:
    model = service.create(DIMUON)
    assert model.info().optimizer == {"type": "dimuon", "version": 1}
    del stub.info["optimizer_config"]
    assert model.info().optimizer is None


def test_a_service_without_the_extension_has_no_observation(service: TinkerService) -> None:
    assert service.create(DIMUON).info().observation is None


def test_loading_returns_the_path_that_the_server_named(
    stub: StubServer, service: TinkerService
) -> None:
    uri = CheckpointUri("tinker://s0/weights/init")
    _, loaded = service.create_from_state(DIMUON, uri, with_optimizer=False)
    assert loaded.loaded == uri
    assert sent(stub, "/api/v1/load_weights")["optimizer_config"]["type"] == "dimuon"
    stub.script["/api/v1/load_weights"] = lambda _: stub.promise({"path": "tinker://other"})
    _, other = service.create_from_state(DIMUON, uri, with_optimizer=True)
    assert other.loaded == "tinker://other"


def test_a_load_response_without_a_path_proves_nothing(
    stub: StubServer, service: TinkerService
) -> None:
    stub.script["/api/v1/load_weights"] = lambda _: stub.promise({"type": "load_weights"})
    _, loaded = service.create_from_state(DIMUON, CheckpointUri("tinker://x"), with_optimizer=True)
    assert loaded.loaded is None


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        ({"error": "LoRA seed is not supported", "category": "user"}, NotOfferedError),
        ({"error": "trainer capacity exhausted", "category": "server"}, CapacityError),
    ],
)
def test_a_failed_creation_future_is_told_apart(
    stub: StubServer, service: TinkerService, failure: dict[str, str], error: type[Exception]
) -> None:
    stub.script["/api/v1/create_model"] = lambda _: stub.promise(failure)
    with pytest.raises(error, match=failure["error"]):
        service.create(DIMUON)
    assert "/api/v1/sessions/s1/finish" in stub.paths()


def test_a_creation_that_stays_pending_counts_as_lack_of_capacity(
    stub: StubServer, service: TinkerService
) -> None:
    stub.script["/api/v1/retrieve_future"] = lambda _: (408, {"queue_state": "paused_capacity"})
    with pytest.raises(CapacityError, match="still pending"):
        service.create(DIMUON)


def test_a_name_that_exists_is_refused(stub: StubServer, service: TinkerService) -> None:
    model = service.create(DIMUON)
    stub.script["/api/v1/save_weights"] = lambda _: stub.promise(
        {"error": "checkpoint exists", "category": "user"}
    )
    with pytest.raises(RefusedError, match="checkpoint exists"):
        model.save_state("init").result()


@pytest.mark.parametrize(
    "optimizer",
    [OptimizerConfig("adamw", {"momentum": 0.9}), OptimizerConfig("dimuon", {"beta1": 1.5})],
)
def test_parameters_that_the_sdk_does_not_know_are_no_crash(
    service: TinkerService, optimizer: OptimizerConfig
) -> None:
    with pytest.raises(RefusedError, match=next(iter(optimizer.parameters))):
        service.create(DIMUON).optim_step(optimizer, 1e-4)


def test_an_optimizer_of_another_family_travels_untouched(
    stub: StubServer, service: TinkerService
) -> None:
    sophia = OptimizerConfig("sophia", {"rho": 0.04})
    model = service.create(replace(DIMUON, optimizer=sophia))
    model.optim_step(sophia, 2e-4).result()
    assert sent(stub, "/api/v1/create_model")["optimizer_config"] == {"type": "sophia"}
    params = {"type": "sophia", "learning_rate": 2e-4, "rho": 0.04}
    assert sent(stub, "/api/v1/optim_step")["optimizer_params"] == params


def test_a_refused_export_stalls_the_model(
    stub: StubServer, service: TinkerService, tmp_path
) -> None:
    model = service.create(DIMUON)
    with pytest.raises(NotOfferedError):
        model.download_weights("final", tmp_path)
    with pytest.raises(Exception, match="stalled"):
        model.save_state("next")


def test_a_lost_model_is_recognized_while_an_answer_is_awaited(
    stub: StubServer, service: TinkerService
) -> None:
    model = service.create(DIMUON)
    stub.script["/api/v1/retrieve_future"] = lambda _: (408, {})
    stub.script["/api/v1/get_info"] = lambda _: (410, {"error": "model_lost"})
    with pytest.raises(ModelLostError):
        model.save_state("a").result()


def test_a_failed_operation_of_a_lost_model_is_no_refusal(
    stub: StubServer, service: TinkerService
) -> None:
    model = service.create(DIMUON)
    lost = {"error": "model_lost: m does not live any more", "category": "server"}
    stub.script["/api/v1/save_weights"] = lambda _: stub.promise(lost)
    with pytest.raises(ModelLostError):
        model.save_state("a").result()


def test_a_closed_session_is_recognized_behind_the_silent_retries_of_the_sdk(
    stub: StubServer, service: TinkerService
) -> None:
    model = service.create(DIMUON)
    stub.script["/api/v1/save_weights"] = lambda _: (409, {"error": "session closed"})
    stub.script["/api/v1/session_heartbeat"] = lambda _: (410, {})
    with pytest.raises(SessionClosedError):
        model.save_state("a").result()


def test_nobody_there_is_said_within_seconds() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    service = TinkerService(address, "tml-secret-key", limits=SHORT)
    with pytest.raises(UnreachableError) as raised:
        service.create(DIMUON)
    assert raised.value.exit_code == ExitCode.SERVICE
    assert "tml-secret-key" not in str(raised.value)


def test_a_service_that_takes_the_question_and_says_nothing_is_told_apart(
    stub: StubServer,
) -> None:
    stub.script["/api/v1/get_server_capabilities"] = lambda _: (time.sleep(3), (200, {}))[1]
    service = TinkerService(stub.base_url, "tml-key", limits=replace(SHORT, first_answer=0.5))
    with pytest.raises(NoAnswerError, match=r"0\.5 s"):
        service.capabilities()


def test_a_server_too_busy_for_a_probe_is_not_given_up(
    stub: StubServer, service: TinkerService
) -> None:
    model = service.create(DIMUON)
    answers = iter([(408, {}), (408, {}), (408, {})])
    save = {"path": "tinker://s1/weights/a"}
    stub.script["/api/v1/get_info"] = lambda _: (time.sleep(1), (200, {}))[1]
    stub.script["/api/v1/retrieve_future"] = lambda _: (time.sleep(1), next(answers, (200, save)))[
        1
    ]
    service._limits = service._http._limits = replace(SHORT, probe=0.2)
    assert model.save_state("a").result() == save["path"]


@pytest.mark.parametrize("address", ["localhost:8000", "http://", "ftp://x", "http://[::1", ""])
def test_what_is_no_address_is_refused_at_once(address: str) -> None:
    with pytest.raises(UsageError, match="TINKER_BASE_URL"):
        TinkerService(address, "tml-key")


def test_credentials_inside_an_address_are_never_shown() -> None:
    service = TinkerService("http://user:hidden@127.0.0.1:9", "tml-key", limits=SHORT)
    with pytest.raises(UnreachableError) as raised:
        service.capabilities()
    assert "hidden" not in str(raised.value) and "127.0.0.1:9" in str(raised.value)


def test_the_identity_has_no_port_and_no_key(service: TinkerService) -> None:
    identity = service.identity()
    assert identity.host == "127.0.0.1" and identity.sdk_version.startswith("0.38")
    assert len(identity.capabilities_sha256) == 64 and identity.embedded_revision is None


def test_missing_credentials_are_named_and_never_shown() -> None:
    with pytest.raises(UsageError, match="TINKER_BASE_URL") as raised:
        connect({"TINKER_API_KEY": "tml-hidden", "MODAL_PROXY_TOKEN_ID": "wk-hidden"})
    assert "MODAL_PROXY_TOKEN_SECRET" in str(raised.value) and "hidden" not in str(raised.value)
    assert missing_variables({"TINKER_BASE_URL": "x", "TINKER_API_KEY": "y"}) == ()
