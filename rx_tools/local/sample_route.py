"""The route that draws from a sampler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.local import wire
from rx_tools.local.decoding import Decoder
from rx_tools.local.http import Request, Response, answer, text, whole
from rx_tools.local.refusals import HttpRefusalError, OperationFailedError
from rx_tools.local.sampling import Drawn, Sampling, Stop, draw, top
from rx_tools.local.service import Service

Array = NDArray[np.float32]
SAMPLES_AT_MOST = 256
TOKENS_AT_MOST = 32_768
"""Samples times max_tokens of one request: other clients wait as long."""
NOT_SCORED = -99999.0
NOT_OFFERED = ("target_prompt_logprobs", "prompt_alt_tokens_k", "record_stability_info")


@dataclass(frozen=True, slots=True)
class Asked:
    """A checked request: what to draw and what to tell of the prompt."""

    prompt: tuple[int, ...]
    samples: int
    how: Sampling
    stop: Stop
    prompt_logprobs: bool
    topk_prompt: int
    last: int | None


def sample(service: Service, request: Request) -> Response:
    """Queue a drawing; one sequence id per sample is answered at once."""
    body = request.json()
    sampler_id, turn = text(body, "sampling_session_id"), whole(body, "seq_id")
    if sampler_id not in service.samplers:
        raise HttpRefusalError(404, f"sampler {sampler_id} does not exist")
    service.sessions.alive(service.samplers[sampler_id].session_id)
    samples = whole({"num_samples": 1, **body}, "num_samples", least=1)
    if samples > SAMPLES_AT_MOST:
        raise HttpRefusalError(400, f"{samples} samples; at most {SAMPLES_AT_MOST}")
    request_id = service.scheduler.submit(
        ("sample", sampler_id, turn), lambda: _draw(service, sampler_id, turn, body)
    )
    ids = [f"{sampler_id}:{turn}:{index}" for index in range(samples)]
    return answer({"request_id": request_id, "sample_sequence_ids": ids})


def _draw(service: Service, sampler_id: str, turn: int, body: Mapping[str, Any]) -> Response:
    asked = checked(service, turn, body)
    base = Decoder(service.base.shape, service.samplers[sampler_id].weights)
    scores = base.feed(asked.prompt)
    drawn = [
        draw(base.fork(), scores[-1], asked.how.numbered(index), asked.stop, service.texts.text_of)
        for index in range(asked.samples)
    ]
    return Response(_packed(asked, scores, drawn), media_type=wire.MEDIA_TYPE)


def checked(service: Service, turn: int, body: Mapping[str, Any]) -> Asked:
    """Everything of a request in range; what is not offered is refused, never ignored."""
    for name in NOT_OFFERED:
        if body.get(name):
            raise OperationFailedError(f"{name} is not supported")
    prompt = _prompt(body.get("prompt"), service.base.shape.vocabulary)
    params = body.get("sampling_params")
    if not isinstance(params, Mapping):
        raise OperationFailedError("sampling_params must be an object")
    room = service.base.shape.max_context - len(prompt)
    if room < 1:
        raise OperationFailedError(
            f"a prompt of {len(prompt)} tokens leaves no room in {service.base.shape.max_context}"
        )
    last = body.get("prompt_logprobs_last_n")
    if last is not None and not (_is_whole(last) and 1 <= last < len(prompt)):
        raise OperationFailedError(f"prompt_logprobs_last_n {last!r} is out of range")
    topk = [_count(body, name) for name in ("topk_prompt_logprobs", "topk_sample_logprobs")]
    how = _how(params, room, turn, topk[1])
    wanted = body.get("prompt_logprobs") is True
    samples = body.get("num_samples", 1)
    if samples * how.max_tokens > TOKENS_AT_MOST:
        raise OperationFailedError(
            f"{samples} samples of {how.max_tokens} tokens; at most {TOKENS_AT_MOST} in all"
        )
    return Asked(prompt, samples, how, _stop(service, params), wanted, topk[0], last)


def _prompt(asked: Any, vocabulary: int) -> tuple[int, ...]:
    chunks = asked.get("chunks") if isinstance(asked, Mapping) else None
    tokens: list[int] = []
    for chunk in chunks if isinstance(chunks, Sequence) else ():
        if not isinstance(chunk, Mapping) or chunk.get("type", "encoded_text") != "encoded_text":
            raise OperationFailedError("only text chunks are supported in a prompt")
        tokens += chunk.get("tokens", [])
    if not tokens or not all(_is_whole(each) and 0 <= each < vocabulary for each in tokens):
        raise OperationFailedError(f"a prompt is one or more token ids in 0 … {vocabulary - 1}")
    return tuple(tokens)


def _how(params: Mapping[str, Any], room: int, turn: int, topk: int) -> Sampling:
    limit, seed = params.get("max_tokens"), params.get("seed")
    if limit is not None and not (_is_whole(limit) and limit >= 0):
        raise OperationFailedError(f"max_tokens {limit!r} must be a whole number from 0")
    if seed is not None and not _is_whole(seed):
        raise OperationFailedError(f"seed {seed!r} must be a whole number")
    temperature, top_p = params.get("temperature", 1.0), params.get("top_p", 1.0)
    top_k = params.get("top_k", -1)
    if not _is_number(temperature) or not temperature >= 0:
        raise OperationFailedError(f"temperature {temperature!r} must be a number from 0")
    if not _is_number(top_p) or not 0 < top_p <= 1:
        raise OperationFailedError(f"top_p {top_p!r} must be in (0, 1]")
    if not _is_whole(top_k) or not (top_k == -1 or top_k >= 1):
        raise OperationFailedError(f"top_k {top_k!r} must be -1 or a positive whole number")
    return Sampling(
        min(limit if limit is not None else room, room),
        (turn if seed is None else seed) % (1 << 63), temperature, top_k, top_p, topk,
    )  # fmt: skip


def _stop(service: Service, params: Mapping[str, Any]) -> Stop:
    asked = params.get("stop")
    if asked is None:
        return Stop(service.texts.end_tokens)
    if isinstance(asked, str):
        return Stop((), (asked,))
    if isinstance(asked, Sequence) and all(_is_whole(each) for each in asked):
        return Stop(asked)
    if isinstance(asked, Sequence) and all(isinstance(each, str) and each for each in asked):
        return Stop((), asked)
    raise OperationFailedError("stop must be a text, texts, or token ids")


def _packed(asked: Asked, scores: Array, drawn: Sequence[Drawn]) -> bytes:
    pb = wire.messages()
    reply = pb.SampleResponse()
    for each in drawn:
        reply.sequences.append(
            pb.SampledSequence(
                stop_reason=pb.STOP_REASON_STOP if each.stopped else pb.STOP_REASON_LENGTH,
                tokens=np.array(each.tokens, "<i4").tobytes(),
                logprobs=each.logprobs.astype("<f4").tobytes(),
                topk_sampled_logprobs=wire.topk(each.top_ids, each.top_logprobs),
            )
        )
    first = 1 if asked.last is None else len(asked.prompt) - asked.last
    if asked.prompt_logprobs:
        told = np.full(len(asked.prompt), np.nan, "<f4")
        places = np.arange(first, len(asked.prompt))
        told[first:] = scores[places - 1, np.array(asked.prompt)[first:]]
        reply.prompt_logprobs = told.tobytes()
    if asked.topk_prompt:
        ids, tops = top(scores[:-1], asked.topk_prompt)
        reply.topk_prompt_logprobs.CopyFrom(wire.topk(*_shifted(ids, tops, first)))
    content: bytes = reply.SerializeToString()
    return content


def _shifted(ids: NDArray[np.int32], tops: Array, first: int) -> tuple[NDArray[np.int32], Array]:
    """Row i is about token i; rows before `first` hold the SDK's sentinels."""
    ids, tops = (np.concatenate([each[:1], each]) for each in (ids, tops))
    ids[:first], tops[:first] = 0, NOT_SCORED
    return ids, tops


def _count(body: Mapping[str, Any], name: str) -> int:
    value = body.get(name) or 0
    if not _is_whole(value) or not 0 <= value <= 1024:
        raise OperationFailedError(f"{name} {value!r} must be a whole number from 0 to 1024")
    return int(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
