"""Signed URLs for exported weights, and the files behind them."""

import hashlib
import hmac
import time
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

from rx_tools.local.checkpoints import NAME, RUN, Address, Kind
from rx_tools.local.http import Request, Response, answer, natural
from rx_tools.local.refusals import HttpRefusalError
from rx_tools.local.service import Service

VALID_SECONDS = 3600


def urls(service: Service, request: Request) -> Response:
    """One URL per file of an exported checkpoint, valid for an hour without a key."""
    run, name = request.parts
    address = external(run, name)
    facts = service.store.facts(address)
    until = int(time.time()) + VALID_SECONDS
    return answer(
        {
            "urls": {
                file: _url(service, request.host, address, file, until) for file in facts.files
            },
            "expires": datetime.fromtimestamp(until, UTC).isoformat(),
        }
    )


def download(service: Service, request: Request) -> Response:
    """A file, for whoever holds its URL."""
    run, name, file = request.parts
    address, until = external(run, name), request.query.get("expires", "")
    signature = _signature(service, address, file, until)
    if not hmac.compare_digest(signature, request.query.get("signature", "")):
        raise HttpRefusalError(403, "the URL's signature is wrong")
    if natural(until, status=403) < time.time():
        raise HttpRefusalError(403, "the URL has expired")
    return Response(service.file(address, file), media_type="application/octet-stream")


def external(run: str, name: str) -> Address:
    """The address of exported weights; 404 when the names cannot be one."""
    if not RUN.fullmatch(run) or not NAME.fullmatch(name):
        raise HttpRefusalError(404, "no such checkpoint")
    return Address(run, Kind.EXTERNAL, name)


def _url(service: Service, host: str, address: Address, file: str, until: int) -> str:
    query = {"expires": until, "signature": _signature(service, address, file, str(until))}
    place = quote(f"/api/v1/rx/files/{address.run}/{address.name}/{file}", safe="/:")
    return f"{host}{place}?{urlencode(query)}"


def _signature(service: Service, address: Address, file: str, until: str) -> str:
    words = f"{address}\n{file}\n{until}".encode()
    return hmac.new(service.settings.key.encode(), words, hashlib.sha256).hexdigest()
