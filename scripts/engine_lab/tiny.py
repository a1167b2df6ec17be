"""A tiny model of random weights: a folder with a config, a tokenizer of bytes and a chat template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

CONTEXT: Final = 8192
"""Positions of the tiny model: at least what the rendered context length asks for."""
_SPECIAL: Final = ("<s>", "</s>")
_TEMPLATE: Final = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
_CONFIG: Final[dict[str, Any]] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "rms_norm_eps": 1e-5,
    "torch_dtype": "bfloat16",
    "bos_token_id": 256,
    "eos_token_id": 257,
}
_EXPERTS: Final = {"num_experts_per_tok": 2, "moe_intermediate_size": 128}
_GROUPED_EXPERTS: Final = {
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "norm_topk_prob": True,
    "routed_scaling_factor": 1.0,
}
_FAMILIES: Final[dict[str, dict[str, Any]]] = {
    "LlamaForCausalLM": {},
    "Qwen2ForCausalLM": {"model_type": "qwen2"},
    "Qwen3ForCausalLM": {"model_type": "qwen3", "head_dim": 64},
    "Qwen3MoeForCausalLM": {"model_type": "qwen3_moe", "head_dim": 64, "num_experts": 8, **_EXPERTS},
    "MistralForCausalLM": {"model_type": "mistral", "head_dim": 64},
    "MixtralForCausalLM": {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2},
    "Phi3ForCausalLM": {"model_type": "phi3", "pad_token_id": 0},
    "Gemma2ForCausalLM": {"model_type": "gemma2", "head_dim": 64, "query_pre_attn_scalar": 64},
    "Glm4MoeForCausalLM": {"model_type": "glm4_moe", "head_dim": 64, **_EXPERTS, **_GROUPED_EXPERTS},
}
"""Architectures that have a tiny form, by what sets it apart; others are served by a Llama, and it is said."""


def write(folder: Path, architecture: str, context: int = CONTEXT) -> str:
    """Write the model; return the architecture it has."""
    made = architecture if architecture in _FAMILIES else "LlamaForCausalLM"
    config = {**_CONFIG, **_FAMILIES[made], "architectures": [made], "max_position_embeddings": context}
    tokenizer = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": _SPECIAL[0],
        "eos_token": _SPECIAL[1],
        "chat_template": _TEMPLATE,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("config", config), ("tokenizer_config", tokenizer), ("tokenizer", _tokenizer())):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return made


def _bytes() -> list[str]:
    """The printable stand-in for each byte, as byte-level tokenizers spell them."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(shifted)) for byte in range(0x100)]


def _tokenizer() -> dict[str, Any]:
    """A byte-level tokenizer without merges: one token a byte."""
    vocabulary = {character: number for number, character in enumerate([*_bytes(), *_SPECIAL])}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": vocabulary[name],
                "content": name,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for name in _SPECIAL
        ],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": vocabulary,
            "merges": [],
        },
    }
