"""A value for every intent, so that each release's spelling of it can be put before that release's own parser."""

from __future__ import annotations

from typing import Final

from chartgen.catalog.engine_intents import Intent
from chartgen.kernel.decision import Json

SMALL: Final = 2
"""What an intent takes that is not named below: a small whole number, or just being on."""
VALUES: Final[dict[Intent, Json]] = {
    "context length": 8192,
    "lora": {"max": 4, "rank": 16},
    "lora modules": {"sql": "/adapters/sql"},
    "multimodal limits": {"image": 2},
    "speculative decoding": {"method": "eagle", "num_speculative_tokens": 3, "model": "draft"},
    "access log exclusion": ["/health"],
    "hf overrides": {"rope_theta": 1000.0},
    "compilation config": {"mode": 3},
    "chat template arguments": {"thinking": False},
    "attention config": {"backend": "FLASH_ATTN"},
    "kv dtype": "fp8",
    "quantization": "fp8",
    "weight dtype": "bfloat16",
    "tool parser": "hermes",
    "reasoning parser": "deepseek_r1",
    "generation config": "auto",
    "served model name": ["chat", "chat-large"],
    "load format": "auto",
    "config format": "auto",
    "tokenizer mode": "auto",
    "revision": "main",
    "download dir": "/models",
    "attention backend": "FLASHINFER",
    "moe backend": "auto",
    "multimodal encoder split": "data",
    "chat template": "{{ messages }}",
    "utilization": 0.9,
    "block size": 16,
    "kv offloading": 8.0,
}
