"""The quantization that a config.json states: a scheme of the catalog, parts in another one, parts left plain.

The spellings are those the engine reads: https://docs.vllm.ai/en/latest/features/quantization/ and, for
compressed-tensors, https://github.com/vllm-project/compressed-tensors. ModelOpt may state it in a file of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from chartgen.catalog.model_config_file import read_json
from chartgen.catalog.model_config_section import Section
from chartgen.catalog.models import Checkpoint, Part
from chartgen.kernel.structure import shown

KEY: Final = "quantization_config"
BESIDE: Final = "hf_quant_config.json"
"""Where ModelOpt states it when config.json does not."""
IGNORED: Final = ("ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers")
"""How the tools spell the list of modules left plain."""

PARTS: Final[tuple[tuple[str, Part], ...]] = (
    (r"visual|vision|image|audio|mm_projector|multi_modal_projector", "vision"),
    (r"lm_head|output_projection", "lm_head"),
    (r"embed", "embedding"),
    (r"mtp|nextn", "multi_token_prediction"),
    (r"shared_expert", "shared_experts"),
    (r"experts", "experts"),
    (r"linear_attn|mamba|mixer|short_conv", "linear_attention"),
    (r"self_attn|attention", "attention"),
    (r"(mlp|moe|block_sparse_moe|feed_forward)[\\.]+(gate|router)(\b|\.|$)", "router"),
    (r"mlp|feed_forward", "feed_forward"),
)
"""Names of modules, most special first, with the part they belong to."""
LAYER: Final = re.compile(r"layers[\\.]+(\d+)[\\.]")
MODELOPT: Final = {
    "FP8": "fp8",
    "FP8_PER_CHANNEL_PER_TOKEN": "fp8",
    "FP8_PB_WO": "fp8-block",
    "NVFP4": "nvfp4",
    "W4A16_NVFP4": "nvfp4",
    "MXFP4": "mxfp4",
}
"""Algorithms of ModelOpt. https://github.com/NVIDIA/Model-Optimizer"""


def checkpoint(section: Section, root: Section, layers: int) -> Checkpoint:
    """How the weights of a model of so many layers are stored. Problems are kept in the section."""
    holder = root if root.raw(KEY) is not None else section
    stated = holder.raw(KEY)
    if stated is None:
        beside = Path(root.json.file).parent / BESIDE
        if not beside.is_file():
            return Checkpoint()
        holder = replace(root, json=read_json(beside))
        stated = holder.json.value
    if not isinstance(stated, Mapping):
        holder.refuse(KEY, shown(stated), "an object, as the quantization tools write it")
        return Checkpoint()
    scheme, others = _schemes(holder, stated)
    if scheme is None:
        expected = "a method the engine and the catalog know: awq, gptq, fp8, compressed-tensors, modelopt, mxfp4"
        holder.refuse(KEY, _described(stated), expected)
        return Checkpoint()
    return Checkpoint(scheme=scheme, part_schemes=others, plain_parts=tuple(_plain_parts(stated, layers)))


def _described(stated: Mapping[str, Any]) -> str:
    words = [f"quantization by {stated.get('quant_method') or 'no stated method'}"]
    words += [f"{key} {stated[key]}" for key in ("quant_algo", "format", "bits", "group_size") if key in stated]
    return ", ".join(words)


def _schemes(holder: Section, stated: Mapping[str, Any]) -> tuple[str | None, dict[Part, str]]:
    """The scheme of most weights, and the schemes of parts that have another one."""
    method = str(stated.get("quant_method", "")).lower().replace("_", "-")
    bits = str(stated.get("w_bit", stated.get("bits")))
    group = stated.get("group_size")
    match method:
        case "awq":
            found = {"4": _grouped("awq", group)}.get(bits)
        case "gptq" | "auto-round" | "autoround":
            four = _grouped("gptq" if method == "gptq" else "w4a16", group)
            found = {"4": four, "8": "gptq-int8"}.get(bits)
        case "fp8" | "fbgemm-fp8":
            found = "fp8-block" if stated.get("weight_block_size") else "fp8"
            if holder.raw("expert_dtype") == "fp4":  # DeepSeek V4
                return found, {"experts": "mxfp4"}
        case "compressed-tensors":
            return _compressed_tensors(stated)
        case "modelopt" | "modelopt-fp4" | "modelopt-mixed" | "":
            return _modelopt(stated)
        case "mxfp4":
            found = "mxfp4"
        case "bitsandbytes":
            found = "bnb-4bit" if stated.get("load_in_4bit") else "bnb-8bit"
        case _:
            found = None
    return found, {}


def _grouped(scheme: str, group: object) -> str | None:
    """The scheme for a group size: plain for 128 or none, with a suffix for smaller ones."""
    if group in (128, -1, None):
        return scheme
    return f"{scheme}-g{group}" if group in (32, 64) else None


def _compressed_tensors(stated: Mapping[str, Any]) -> tuple[str | None, dict[Part, str]]:
    groups = stated.get("config_groups")
    if not isinstance(groups, Mapping):
        return None, {}
    by_part: dict[Part | None, Counter[str]] = {}
    for group in groups.values():
        scheme = _compressed_group(group)
        if scheme is None:
            return None, {}
        for target in group.get("targets") or ("Linear",):
            by_part.setdefault(_part_of(str(target)), Counter())[scheme] += 1
    return _most(by_part)


def _compressed_group(group: Any) -> str | None:
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(weights, Mapping):
        return None
    size = weights.get("group_size")
    match weights.get("num_bits"), weights.get("type"):
        case 8, "float":
            return "fp8-block" if weights.get("strategy") == "block" else "fp8"
        case 8, "int":
            return "gptq-int8" if group.get("input_activations") is None else "w8a8"
        case 4, "int":
            return _grouped("w4a16" if weights.get("symmetric", True) else "awq", size)
        case 4, "float":
            return {16: "nvfp4", 32: "mxfp4"}.get(size if isinstance(size, int) else 0)
    return None


def _modelopt(stated: Mapping[str, Any]) -> tuple[str | None, dict[Part, str]]:
    inner = stated.get("quantization")
    holder = inner if isinstance(inner, Mapping) else stated
    layers = holder.get("quantized_layers")
    if isinstance(layers, Mapping) and layers:
        by_part: dict[Part | None, Counter[str]] = {}
        for name, entry in layers.items():
            algorithm = entry.get("quant_algo") if isinstance(entry, Mapping) else None
            scheme = MODELOPT.get(str(algorithm).upper())
            if scheme is None:
                return None, {}
            by_part.setdefault(_part_of(str(name)), Counter())[scheme] += 1
        return _most(by_part)
    return MODELOPT.get(str(holder.get("quant_algo")).upper()), {}


def _most(by_part: Mapping[Part | None, Counter[str]]) -> tuple[str | None, dict[Part, str]]:
    """Of the schemes by part: that of the feed-forward part, where most weights are, and the rest."""
    chosen = {part: found.most_common(1)[0][0] for part, found in by_part.items()}
    order: tuple[Part | None, ...] = ("experts", None, "feed_forward", *chosen)
    scheme = next((chosen[part] for part in order if part in chosen), None)
    return scheme, {part: found for part, found in chosen.items() if part is not None and found != scheme}


def _part_of(name: str) -> Part | None:
    return next((part for pattern, part in PARTS if re.search(pattern, name)), None)


def _plain_parts(stated: Mapping[str, Any], layers: int) -> Iterator[Part]:
    """Parts that the list of exceptions names in every layer: single layers left plain are not counted."""
    inner = stated.get("quantization")
    names: list[str] = []
    for holder in (stated, inner if isinstance(inner, Mapping) else {}):
        for key in IGNORED:
            listed = holder.get(key)
            names += [str(name) for name in listed] if isinstance(listed, list) else []
    seen: dict[Part, set[str]] = {}
    for name in names:
        part = _part_of(name)
        if part is not None:
            layer = LAYER.search(name)
            seen.setdefault(part, set()).add(layer[1] if layer else "all")
    yield from sorted(part for part, where in seen.items() if "all" in where or len(where) >= layers)
