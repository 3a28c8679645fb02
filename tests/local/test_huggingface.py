"""A Qwen3 saved by transformers is served as transformers computes it."""

import json

import numpy as np
import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from rx_tools.errors import DocumentError
from rx_tools.local import huggingface
from rx_tools.local.batch import Example
from rx_tools.local.engine import Engine
from rx_tools.local.launcher import launch
from rx_tools.local.lora import LoraConfig, fresh


def saved(folder, *, tied: bool, dtype=torch.float32):
    torch.manual_seed(1)
    config = Qwen3Config(
        vocab_size=300, hidden_size=48, intermediate_size=80, num_hidden_layers=3,
        num_attention_heads=6, num_key_value_heads=2, head_dim=12, rope_theta=5000.0,
        tie_word_embeddings=tied, max_position_embeddings=128, attn_implementation="eager",
    )  # fmt: skip
    model = Qwen3ForCausalLM(config).to(dtype)
    for parameter in model.parameters():
        parameter.data.add_(0.05 * torch.randn_like(parameter))
    model.save_pretrained(folder)  # read again, so that rotary tables are float32 as well
    return Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32)


@pytest.mark.parametrize(("tied", "dtype"), [
    (False, torch.float32), (True, torch.float32), (True, torch.bfloat16),
])  # fmt: skip
def test_logprobs_equal_transformers(tmp_path, tied, dtype):
    theirs = saved(tmp_path, tied=tied, dtype=dtype)
    base = huggingface.load(tmp_path)
    tokens = np.random.default_rng(0).integers(0, 300, 60)
    example = Example(tokens[:-1], tokens[1:], {"weights": np.ones(59, np.float32)})
    config = LoraConfig(4)
    ours = Engine(base).run(config, fresh(base, config, 0), [example], backward=False).logprobs[0]
    with torch.no_grad():
        logits = theirs(torch.tensor(tokens[:-1])[None]).logits[0]
    right = torch.log_softmax(logits, -1).gather(1, torch.tensor(tokens[1:])[:, None])[:, 0]
    assert np.abs(ours - right.numpy()).max() <= 1e-4


def test_it_is_served_under_the_name_of_its_folder(tmp_path):
    import tinker

    folder = tmp_path / "small-qwen3"
    saved(folder, tied=True)
    with launch(tmp_path / "store", model_folder=folder) as running:
        client = tinker.ServiceClient(base_url=running.base_url, api_key=running.api_key)
        model = client.create_lora_training_client(base_model="small-qwen3", rank=4).result(30)
        assert model.get_info().model_data.model_name == "small-qwen3"


@pytest.mark.parametrize(("change", "words"), [
    ({"model_type": "llama"}, "only models of type qwen3"),
    ({"attention_bias": True}, "attention_bias is not supported"),
    ({"num_hidden_layers": 4}, "model.layers.3.* is missing"),
    ({"intermediate_size": 81}, "has shape"),
    ({"hidden_size": "x"}, "missing or no number"),
])  # fmt: skip
def test_what_cannot_be_served_is_said(tmp_path, change, words):
    saved(tmp_path, tied=True)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DocumentError, match=words):
        huggingface.load(tmp_path)
