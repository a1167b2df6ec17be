"""Models whose layers were pruned one by one (Nemotron Super): a list of blocks, each with its own shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.catalog.model_config_section import Section
from chartgen.catalog.model_config_types import LayerKind
from chartgen.catalog.models import FeedForward
from chartgen.kernel.structure import shown

STEP: Final = 256
"""Widths are rounded up to a multiple. vLLM 0.33.0, vllm/model_executor/models/nemotron_nas.py."""


def _blocks(section: Section, part: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """One part (attention or ffn) of every block that has it."""
    key = section.rules.layers.blocks
    for index, block in enumerate(section.items(key) or ()):
        inner = block.get(part) if isinstance(block, Mapping) else None
        if not isinstance(inner, Mapping):
            section.refuse(key, shown(block), f"an object with the key {part!r}", index=index)
        elif inner.get("replace_with_linear"):
            found = f"{part} replaced by one matrix"
            section.refuse(key, found, "blocks with attention and feed-forward as usual, or without", index=index)
        elif not inner.get("no_op"):
            yield index, inner


def block_kinds(section: Section) -> list[LayerKind]:
    """The kind of every layer: full attention, or none."""
    blocks = section.items(section.rules.layers.blocks) or ()
    kinds: list[LayerKind] = ["none"] * min(section.whole("num_hidden_layers"), len(blocks))
    groups = set()
    for index, inner in _blocks(section, "attention"):
        if index < len(kinds):
            kinds[index] = "full"
        groups.add(inner.get("n_heads_in_group"))
    if len(groups) != 1 or not all(isinstance(group, int) and group > 0 for group in groups):
        key = section.rules.layers.blocks
        section.refuse(key, f"{sorted(map(str, groups))} query heads a key-value head", "one number for all layers")
    return kinds


def kv_heads(section: Section, heads: int) -> int:
    """Key-value heads, which blocks state as query heads in a group."""
    group = next((inner.get("n_heads_in_group") for _, inner in _blocks(section, "attention")), None)
    return heads // group if isinstance(group, int) and group > 0 else heads


def block_feed_forward(section: Section) -> FeedForward:
    """The dense blocks: how many, the widest, and all widths together."""
    hidden = section.whole("hidden_size")
    widths = []
    for index, inner in _blocks(section, "ffn"):
        factor = inner.get("ffn_mult")
        if isinstance(factor, bool) or not isinstance(factor, int | float) or factor <= 0:
            key = section.rules.layers.blocks
            section.refuse(key, shown(factor), "a factor 'ffn_mult' of more than 0", index=index)
            continue
        widths.append(-(-int(2 * factor * hidden / 3) // STEP) * STEP)
    return FeedForward(layers=len(widths), width=max(widths, default=1), total_width=sum(widths))
