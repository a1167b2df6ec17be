"""A row of the placement table as a profile: a made-up model of just the size that takes the row's devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from chartgen.catalog.clouds import load_cloud
from chartgen.catalog.gpus import Gpu, gpu
from chartgen.kernel.units import MIB
from placement.table import Row

SMALL = {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 16, "vocab_size": 32000}
LARGE = {"hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64, "vocab_size": 128256}
"""Two makes of a dense model with 8 key-value heads, for sizes below and above 40 GiB."""


def write_profile(row: Row, folder: Path, minor: int) -> Path:
    """The profile of a row, beside the config.json of its model."""
    (folder / "config.json").write_text(json.dumps(_config(_weights(row))), encoding="utf-8")
    kind, _, argument = row.mode.partition(":")
    cluster: dict[str, Any] = {
        "cloud": row.cloud,
        "kubernetes": f"1.{minor}",
        "allocation": _allocation(kind, argument, row.card),
        "spot": kind == "spot",
    }
    profile = {
        "model": "./config.json",
        "gpu": row.card,
        "gpus": row.gpus,
        "context": 1024,
        "region": next(iter(load_cloud(row.cloud).regions), "somewhere-1"),
        "name": "row",
        "class": {"spot": "batch", "shared": "dev"}.get(kind, "interactive"),
        "cluster": cluster,
        "owner": {"team": "models"},
        "weights": {"from": "pvc:weights"},
    }
    path = folder / "row.yaml"
    path.write_text(yaml.safe_dump(profile), encoding="utf-8")
    return path


def _allocation(kind: str, argument: str, card: str) -> Any:
    match kind:
        case "mixed" | "single":
            return {"by": "mig", "profile": argument, "strategy": kind}
        case "claim":
            return "dra"
        case "claim-slice":
            return {"by": "dra", "profile": argument}
        case "prefer":
            cards = [choice.partition("x")[2] for choice in argument.split(",")]
            return {"by": "dra", "prefer": [name for name in cards if name != card]}
        case "shared":
            return {"by": "time-slicing", "clients": int(argument)}
        case _:
            return "whole"


def _weights(row: Row) -> float:
    """Bytes of weights that leave room on the row's devices, and on no fewer of them."""
    card = gpu(row.card)
    whole = card.visible_bytes("low")
    kind, _, argument = row.mode.partition(":")
    if kind in {"mixed", "single", "claim-slice"}:
        return 0.4 * _slice(card, argument)
    if kind == "shared":
        return 0.3 * whole / int(argument)
    return 0.4 * whole if row.gpus == 1 else 0.6 * row.gpus * whole


def _slice(card: Gpu, profile: str) -> float:
    return card.mig[profile].mib * MIB if profile in card.mig else card.visible_bytes("low")


def _config(weights: float) -> dict[str, Any]:
    """The config.json of a Llama of about so many bytes in 16 bits."""
    make = SMALL if weights < 40 * 2**30 else LARGE
    hidden, width, heads = make["hidden_size"], make["intermediate_size"], make["num_attention_heads"]
    layer = hidden * (2 * heads * 128 + 2 * 8 * 128) + 3 * hidden * width
    layers = round((weights / 2 - 2 * make["vocab_size"] * hidden) / layer)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        **make,
        "num_hidden_layers": max(1, layers),
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 8192,
        "torch_dtype": "float16",
        "tie_word_embeddings": False,
    }
