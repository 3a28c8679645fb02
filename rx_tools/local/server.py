"""HTTP/1.1 over the standard library: reading, guarding, answering."""

import hmac
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import ClassVar
from urllib.parse import parse_qsl, unquote

from rx_tools.local import routes
from rx_tools.local.complaints import complain
from rx_tools.local.http import Request, Response, natural, refusal
from rx_tools.local.refusals import Category, HttpRefusalError, OperationFailedError
from rx_tools.local.service import Service
from rx_tools.local.traffic import Exchange, Traffic

BODY_AT_MOST = 64 << 20


class Server(ThreadingHTTPServer):
    """Listens for one service; a thread per connection."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = True

    def __init__(self, service: Service) -> None:
        self.service, self.traffic = service, Traffic()
        self.address_family = AF_INET6 if ":" in service.settings.host else AF_INET
        super().__init__((service.settings.host, service.settings.port), Handler)

    @property
    def base_url(self) -> str:
        """Where a client reaches this server."""
        host = self.service.settings.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}"

    def stop(self) -> None:
        """Close the port and let the running operation finish; what was answered is on disk."""
        self.server_close()
        self.service.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that broke is the client's business."""
        del request, client_address
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            complain()


class Handler(BaseHTTPRequestHandler):
    """One connection, kept alive."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "rx-local"
    disable_nagle_algorithm = True
    wbufsize: ClassVar[int] = 1 << 16
    timeout = 600

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """The request table is kept elsewhere."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses (a request line, a method) is answered as JSON too."""
        del explain
        self.close_connection, self.request_version = True, self.protocol_version
        self._send(refusal(HttpRefusalError(code, message or "the request is malformed")))

    def _answer(self) -> None:
        begin = time.time()
        try:
            response = self._respond()
        except HttpRefusalError as error:
            response = refusal(error)
        except OperationFailedError as error:
            status = 404 if error.category is Category.USER else 500
            response = refusal(HttpRefusalError(status, error.sentence))
        except Exception as error:  # the service must outlive any fault of one request
            complain()
            response = refusal(HttpRefusalError(500, f"internal error: {type(error).__name__}"))
        self._send(response)
        path = self.path.partition("?")[0]
        spent = time.time() - begin
        self.server.traffic.add(Exchange(begin, self.command, path, response.status, spent))

    def _respond(self) -> Response:
        service = self.server.service
        place, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body(headers)
        self._guard_host(headers)
        path = unquote(place)
        if path not in routes.OPEN and not path.startswith(routes.SIGNED):
            self._guard_key(headers)
        route, parts = routes.find(self.command, path)
        for fault in service.faults:
            fault.before_answer(path)
            if path in routes.SUBMITS:
                fault.on_submit(path)
        host = f"http://{headers.get('host', '')}"
        return route(
            service,
            Request(self.command, path, dict(parse_qsl(query)), headers, body, host, parts),
        )

    def _guard_host(self, headers: dict[str, str]) -> None:
        name = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
        allowed = self.server.service.settings.allowed_hosts
        if allowed and name not in allowed:
            raise HttpRefusalError(421, f"host {name!r} is not served here")

    def _guard_key(self, headers: dict[str, str]) -> None:
        given, key = headers.get("x-api-key", ""), self.server.service.settings.key
        if not hmac.compare_digest(given.encode(), key.encode()):
            raise HttpRefusalError(401, "x-api-key is missing or wrong")

    def _body(self, headers: dict[str, str]) -> bytes:
        if "transfer-encoding" in headers:
            self.close_connection = True
            raise HttpRefusalError(411, "send a Content-Length, not a Transfer-Encoding")
        self.close_connection, closing = True, self.close_connection
        announced = natural(headers.get("content-length", "0"), status=413)
        if announced > BODY_AT_MOST:
            raise HttpRefusalError(413, f"a body of {announced} bytes; at most {BODY_AT_MOST}")
        body = self.rfile.read(announced)
        if len(body) < announced:
            raise HttpRefusalError(400, f"the body ended after {len(body)} of {announced} bytes")
        self.close_connection = closing
        if headers.get("content-encoding", "identity") == "zstd":
            return _inflate(body)
        return body

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.media_type)
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in response.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(response.body)
        self.wfile.flush()


def _inflate(body: bytes) -> bytes:
    import zstandard

    try:
        reader = zstandard.ZstdDecompressor().stream_reader(body)
        content = reader.read(BODY_AT_MOST + 1)
    except zstandard.ZstdError as error:
        raise HttpRefusalError(400, "the body is no zstd frame") from error
    if len(content) > BODY_AT_MOST:
        raise HttpRefusalError(413, f"the body inflates to more than {BODY_AT_MOST} bytes")
    return content
