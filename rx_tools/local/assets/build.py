"""Train the built-in tokenizer: `python -m rx_tools.local.assets.build [FOLDER]`.

A byte-level BPE with the pre-tokenizer pattern of Qwen3.5 and NFC, so that the renderers meant
for that family work with it. Training is deterministic: the same text gives the same bytes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.assets.chats import rows

VOCABULARY = 2048
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PLAIN = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>"),
    *("<tool_response>", "</tool_response>"),
)
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _texts() -> Iterator[str]:
    for row in rows("train"):
        for message in row["messages"]:
            yield f"{message['role']}\n{message['content']}\n"


def tokenizer_json() -> bytes:
    """The content of `tokenizer.json`; control tokens have the highest ids."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from tokenizers.normalizers import NFC

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIAL) - len(PLAIN),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, normalized=False, special=False) for t in PLAIN])
    document = json.loads(tokenizer.to_str())
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def config_json() -> bytes:
    """The content of `tokenizer_config.json`."""
    config = {
        "add_prefix_space": False,
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 32768,
        "pad_token": "<|endoftext|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": None,
    }
    return json.dumps(config, indent=2).encode() + b"\n"


def build(folder: Path) -> None:
    """Write both files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    (folder / "tokenizer_config.json").write_bytes(config_json())


if __name__ == "__main__":
    build(Path(sys.argv[1]) if sys.argv[1:] else tokenizer_folder())
