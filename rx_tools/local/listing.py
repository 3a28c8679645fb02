"""Routes that list, describe, keep and delete what is on disk."""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rx_tools.local.checkpoints import (
    LISTED_AS,
    NAME,
    RUN,
    Address,
    Facts,
    Kind,
    checked_ttl,
    parse_address,
)
from rx_tools.local.http import Request, Response, answer, natural
from rx_tools.local.refusals import HttpRefusalError
from rx_tools.local.service import Service

OWNER = "local"


def weights_info(service: Service, request: Request) -> Response:
    """What a checkpoint holds, for whoever wants to load it."""
    facts = service.store.facts(parse_address(request.json().get("tinker_path")))
    return answer(
        {
            "base_model": facts.base_model,
            "tokenizer_id": str(service.settings.tokenizer),
            "optimizer_config": dict(facts.optimizer),
            "is_lora": True,
            "lora_rank": facts.rank,
            "train_unembed": facts.train_unembed,
            "train_mlp": facts.train_mlp,
            "train_attn": facts.train_attn,
        }
    )


def list_runs(service: Service, request: Request) -> Response:
    """Training runs, the newest first, a page at a time."""
    runs = service.store.runs()
    page, cursor = _page(runs, request.query, limit=20)
    return answer({"training_runs": [_run(service, run) for run in page], "cursor": cursor})


def get_run(service: Service, request: Request) -> Response:
    """One training run."""
    return answer(_run(service, _known(service, request.parts[0])))


def list_run_checkpoints(service: Service, request: Request) -> Response:
    """The checkpoints of one run."""
    run = str(_known(service, request.parts[0])["run"])
    return answer({"checkpoints": [_listed(*each) for each in service.store.checkpoints(run)]})


def list_checkpoints(service: Service, request: Request) -> Response:
    """The checkpoints of all runs, the newest first, a page at a time."""
    found = [
        each for run in service.store.runs() for each in service.store.checkpoints(str(run["run"]))
    ]
    found.sort(key=lambda each: -each[1].created)
    page, cursor = _page(found, request.query, limit=100)
    return answer({"checkpoints": [_listed(*each) for each in page], "cursor": cursor})


def delete_checkpoint(service: Service, request: Request) -> Response:
    """Delete for good."""
    service.store.delete(_address(request.parts))
    return answer({})


def set_ttl(service: Service, request: Request) -> Response:
    """Let a checkpoint expire in so many seconds, or never."""
    address, ttl = _address(request.parts), checked_ttl(request.json().get("ttl_seconds"))
    expires = None if ttl is None else time.time() + ttl
    service.store.change(address, replace(service.store.facts(address), expires=expires))
    return answer({})


def _known(service: Service, run: str) -> dict[str, Any]:
    found = service.known_run(run)
    if found is None:
        raise HttpRefusalError(404, f"training run {run} does not exist")
    return found


def _address(parts: tuple[str, ...]) -> Address:
    run, kind, name = parts
    if not RUN.fullmatch(run) or kind not in list(Kind) or not NAME.fullmatch(name):
        raise HttpRefusalError(404, f"checkpoint {kind}/{name} of {run} does not exist")
    return Address(run, Kind(kind), name)


def _page(
    items: list[Any], query: Mapping[str, str], *, limit: int
) -> tuple[list[Any], dict[str, int]]:
    begin, size = natural(query.get("offset", "0")), natural(query.get("limit", str(limit)))
    cursor = {"offset": begin, "limit": size, "total_count": len(items)}
    return items[begin : begin + size], cursor


def _run(service: Service, run: Mapping[str, Any]) -> dict[str, Any]:
    saved = list(service.store.checkpoints(str(run["run"])))
    latest = {address.kind: _listed(address, facts) for address, facts in saved}
    times = [float(run["created"]), *(facts.created for _, facts in saved)]
    return {
        "training_run_id": run["run"],
        "base_model": run["base_model"],
        "model_owner": OWNER,
        "is_lora": True,
        "corrupted": False,
        "lora_rank": run["rank"],
        "last_request_time": _moment(max(times)),
        "last_checkpoint": latest.get(Kind.WEIGHTS),
        "last_sampler_checkpoint": latest.get(Kind.SAMPLER),
        "user_metadata": run["user_metadata"],
    }


def _listed(address: Address, facts: Facts) -> dict[str, Any]:
    return {
        "checkpoint_id": address.checkpoint_id,
        "checkpoint_type": LISTED_AS[address.kind],
        "time": _moment(facts.created),
        "tinker_path": str(address),
        "size_bytes": facts.size,
        "public": False,
        "user_metadata": facts.user_metadata,
        "expires_at": None if facts.expires is None else _moment(facts.expires),
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
