"""Sampling through the SDK, and the decoder against the whole forward pass."""

import numpy as np
import pytest
from tinker import RequestFailedError, types

from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.base import tiny
from rx_tools.local.batch import Example
from rx_tools.local.decoding import Decoder
from rx_tools.local.engine import Engine
from rx_tools.local.lora import LoraConfig, fresh
from rx_tools.local.sampling import Sampling, choose_token

from .conftest import MODEL, datums

PROMPT = types.ModelInput.from_ints([5, 900, 17, 42])
TOKENS = [5, 900, 17, 42]


def end_token() -> int:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(tokenizer_folder() / "tokenizer.json")).token_to_id("<|im_end|>")


@pytest.fixture
def sampler(client):
    return client.create_sampling_client(base_model=MODEL).result(timeout=30)


def params(**changes):
    return types.SamplingParams(**{"max_tokens": 12, "temperature": 0.0, "stop": []} | changes)


def test_the_decoder_equals_the_whole_forward_pass():
    base, config = tiny(), LoraConfig(4)
    tokens = np.random.default_rng(1).integers(0, 2048, 300)
    weights = Engine(base).effective(config, fresh(base, config, 1))
    decoder = Decoder(base.shape, weights)
    scores = [decoder.feed(tokens[:280]), *(decoder.feed([token]) for token in tokens[280:])]
    example = Example(tokens[:-1], tokens[1:], {"weights": np.ones(299, np.float32)})
    whole = Engine(base).run(config, fresh(base, config, 1), [example], backward=False)
    stepwise = np.concatenate(scores)[np.arange(299), tokens[1:]]
    assert np.abs(stepwise - whole.logprobs[0]).max() <= 1e-4


def test_greedy_draws_the_likeliest_token_and_tells_its_logprob(sampler):
    reply = sampler.sample(PROMPT, 2, params(), topk_sample_logprobs=3).result(timeout=30)
    first, second = reply.sequences
    assert first.tokens == second.tokens
    assert (len(first.tokens), first.stop_reason) == (12, "length")
    for token, logprob, tops in zip(first.tokens, first.logprobs, first.topk_logprobs, strict=True):
        assert tops[0] == (token, pytest.approx(logprob))
        assert tops[0][1] >= tops[1][1] >= tops[2][1]
    assert first.sequence_id != second.sequence_id


def test_prompt_logprobs_are_those_of_compute_logprobs(sampler):
    reply = sampler.sample(PROMPT, 1, params(), include_prompt_logprobs=True).result(timeout=30)
    told = sampler.compute_logprobs(PROMPT).result(timeout=30)
    assert told[0] is None
    assert reply.prompt_logprobs[1:] == told[1:]
    assert all(-20 < each < 0 for each in told[1:])


def test_one_seed_draws_one_text_and_another_seed_another(sampler):
    texts = [
        tuple(
            sampler.sample(PROMPT, 1, params(temperature=1.0, seed=seed))
            .result(30)
            .sequences[0]
            .tokens
        )
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_a_stop_token_ends_the_sequence_and_is_part_of_it(sampler):
    free = sampler.sample(PROMPT, 1, params()).result(timeout=30).sequences[0].tokens
    stopped = sampler.sample(PROMPT, 1, params(stop=[free[4]])).result(timeout=30).sequences[0]
    place = free.index(free[4])
    assert (stopped.tokens, stopped.stop_reason) == (free[: place + 1], "stop")


def test_a_stop_text_ends_the_sequence(sampler):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_folder() / "tokenizer.json"))
    free = sampler.sample(PROMPT, 1, params()).result(timeout=30).sequences[0].tokens
    text = tokenizer.decode(free[:3], skip_special_tokens=False)[-2:]
    stopped = sampler.sample(PROMPT, 1, params(stop=[text])).result(timeout=30).sequences[0]
    assert stopped.stop_reason == "stop"
    assert text in tokenizer.decode(stopped.tokens, skip_special_tokens=False)
    assert len(stopped.tokens) <= 3


def test_top_k_of_one_is_greedy_and_top_p_keeps_to_the_likeliest(sampler):
    greedy = sampler.sample(PROMPT, 1, params()).result(timeout=30).sequences[0].tokens
    for cut in ({"top_k": 1}, {"top_p": 1e-6}):
        drawn = sampler.sample(PROMPT, 1, params(temperature=1.0, **cut)).result(timeout=30)
        assert drawn.sequences[0].tokens == greedy


def test_samplers_of_saved_and_of_live_weights_draw_alike_and_stay_fixed(client):
    model = client.create_lora_training_client(base_model=MODEL, rank=8).result(timeout=30)
    batch, step = datums(1, [20, 30]), types.AdamParams(learning_rate=5e-2)

    def train():
        model.forward_backward(batch, "cross_entropy")
        model.optim_step(step).result(timeout=30)

    def told(sampler):
        return sampler.compute_logprobs(PROMPT).result(timeout=30)[1:]

    train()
    path = model.save_weights_for_sampler("one").result(timeout=30).path
    saved = client.create_sampling_client(model_path=path).result(timeout=30)
    live = model.save_weights_and_get_sampling_client().result(timeout=30)
    before = told(saved)
    assert told(live) == before
    train()
    assert told(live) == told(saved) == before


def test_learning_one_reply_makes_greedy_sampling_say_it(client):
    """Train on one sequence until it is known by heart; greedy decoding then repeats it."""
    reply = [7, 300, 1999, 64, end_token()]
    tokens = [*TOKENS, *reply]
    datum = types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={
            "target_tokens": np.array(tokens[1:]),
            "weights": np.array([0, 0, 0, 1, 1, 1, 1, 1], np.float32),
        },
    )
    model = client.create_lora_training_client(base_model=MODEL, rank=16, seed=1).result(30)
    for _ in range(30):
        model.forward_backward([datum], "cross_entropy")
        model.optim_step(types.AdamParams(learning_rate=2e-2)).result(timeout=30)
    sampler = model.save_weights_and_get_sampling_client().result(timeout=30)
    drawn = sampler.sample(PROMPT, 1, params(max_tokens=40, stop=None)).result(timeout=30)
    assert drawn.sequences[0].tokens == reply
    assert drawn.sequences[0].stop_reason == "stop"


@pytest.mark.parametrize(("changes", "words"), [
    ({"temperature": -1.0}, "temperature"), ({"top_p": 0.0}, "top_p"), ({"top_k": 0}, "top_k"),
    ({"max_tokens": -1}, "max_tokens"),
])  # fmt: skip
def test_settings_out_of_range_are_refused(sampler, changes, words):
    with pytest.raises(RequestFailedError, match=words):
        sampler.sample(PROMPT, 1, params(**changes)).result(timeout=30)


def test_a_request_that_would_hold_up_all_others_is_refused(sampler):
    with pytest.raises(RequestFailedError, match="at most 32768 in all"):
        sampler.sample(PROMPT, 200, params(max_tokens=1000)).result(timeout=30)


def test_frequencies_follow_the_models_probabilities():
    """8,000 draws from three likely tokens, each within five standard errors."""
    chances = np.array([0.5, 0.3, 0.15, 0.05])
    scores, source = np.log(chances).astype(np.float32), np.random.default_rng(0)
    for how, expected in (
        (Sampling(1, 0), chances),
        (Sampling(1, 0, top_k=2), np.array([5 / 8, 3 / 8, 0, 0])),
        (Sampling(1, 0, top_p=0.9), np.array([0.5, 0.3, 0.15, 0]) / 0.95),
        (Sampling(1, 0, temperature=0.5), chances**2 / (chances**2).sum()),
    ):
        drawn = [choose_token(scores, how, source) for _ in range(8000)]
        seen = np.bincount(drawn, minlength=4) / 8000
        error = np.sqrt(expected * (1 - expected) / 8000)
        assert (np.abs(seen - expected) <= 5 * error).all()


def test_prompts_that_cannot_be_are_refused(sampler):
    for tokens in ([2048], [-1], []):
        with pytest.raises(RequestFailedError, match="token ids"):
            sampler.sample(types.ModelInput.from_ints(tokens), 1, params()).result(timeout=30)
