"""A scripted HTTP server: the real SDK talks to it, and each test says how it misbehaves."""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, Any]]
Script = Callable[[dict[str, Any]], Answer]


class StubServer:
    """Speaks enough to create and load a model; `script[path]` overrides any answer."""

    def __init__(self) -> None:
        self.script: dict[str, Script] = {}
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.futures: dict[str, dict[str, Any]] = {}
        self.info: dict[str, Any] = {
            "model_data": {"model_name": "tiny", "tokenizer_id": "tok"},
            "lora_rank": 4,
            "is_lora": True,
            "optimizer_config": {"type": "dimuon", "version": 1},
        }
        handler = type("Handler", (_Handler,), {"stub": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.base_url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "StubServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def promise(self, outcome: dict[str, Any]) -> Answer:
        """A future that will answer `outcome`."""
        name = f"future-{len(self.futures)}"
        self.futures[name] = outcome
        return 200, {"request_id": name}

    def paths(self) -> list[str]:
        return [path for path, _, _ in self.requests]

    def answer(self, path: str, body: dict[str, Any]) -> Answer:
        if path in self.script:
            return self.script[path](body)
        return _DEFAULT.get(path, lambda *_: (404, {"error": "no such call"}))(self, body)


def _create(stub: StubServer, body: dict[str, Any]) -> Answer:
    return stub.promise({"model_id": f"{body['session_id']}:train:{body['model_seq_id']}"})


_DEFAULT: dict[str, Callable[[StubServer, dict[str, Any]], Answer]] = {
    "/api/v1/client/config": lambda *_: (200, {}),
    "/api/v1/client/dynamic_config": lambda *_: (200, {}),
    "/api/v1/create_session": lambda *_: (200, {"session_id": "s1"}),
    "/api/v1/session_heartbeat": lambda *_: (200, {}),
    "/api/v1/sessions/s1/finish": lambda *_: (200, {}),
    "/api/v1/get_server_capabilities": lambda *_: (
        200,
        {"supported_models": [{"model_name": "tiny"}]},
    ),
    "/api/v1/create_model": _create,
    "/api/v1/load_weights": lambda stub, body: stub.promise({"path": body["path"]}),
    "/api/v1/save_weights": lambda stub, body: stub.promise(
        {"path": f"tinker://s1/{body['path']}"}
    ),
    "/api/v1/optim_step": lambda stub, _: stub.promise(
        {"metrics": {"update_successful:mean": 1.0}}
    ),
    "/api/v1/get_info": lambda stub, body: (200, {"model_id": body["model_id"], **stub.info}),
    "/api/v1/retrieve_future": lambda stub, body: (200, stub.futures[body["request_id"]]),
}


class _Handler(BaseHTTPRequestHandler):
    stub: StubServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._reply(self.path.partition("?")[0], {})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._reply(self.path, json.loads(raw) if raw else {})

    def _reply(self, path: str, body: dict[str, Any]) -> None:
        self.stub.requests.append((path, {k.lower(): v for k, v in self.headers.items()}, body))
        status, document = self.stub.answer(path, body)
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return
