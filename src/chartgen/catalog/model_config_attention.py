"""The attention of a config.json: shapes of each kind of layer it has."""

from __future__ import annotations

from collections import Counter
from typing import Any

from chartgen.catalog.model_attention import (
    Attention,
    ChunkedLocal,
    FullAttention,
    LatentAttention,
    SlidingWindow,
    SparseIndexer,
)
from chartgen.catalog.model_config_blocks import kv_heads as blocked_kv_heads
from chartgen.catalog.model_config_compressed import compressed
from chartgen.catalog.model_config_section import Section
from chartgen.catalog.model_config_states import delta_net, lightning, mamba2, short_convolution
from chartgen.catalog.model_config_types import LayerKind
from chartgen.kernel.structure import shown

PER_LAYER_HEADS = "num_attention_heads_per_layer"
"""A list of query heads where layers differ (Laguna)."""


INDEXED = {"full", "indexed_attention", "minimax_m3_sparse", "1"}
"""Words for layers with an index of their own; the others reuse it or have none."""


def attention(section: Section, kinds: list[LayerKind]) -> Attention:
    """The attention of the layers `kinds`. Problems are kept in the section."""
    counts = Counter(kinds)
    full = counts["full"] + counts["both"]
    states = counts["mamba2"] + counts["both"]
    window = section.rules.layers.window_key
    return Attention(
        full=FullAttention(**_grouped(section, "full", kinds)) if full else None,
        sliding_window=SlidingWindow(**_grouped(section, "sliding_window", kinds), window=section.whole(window))
        if counts["sliding_window"]
        else None,
        chunked_local=ChunkedLocal(**_grouped(section, "chunked_local", kinds), chunk=section.whole(window))
        if counts["chunked_local"]
        else None,
        latent=_latent(section, counts["latent"]) if counts["latent"] else None,
        compressed=compressed(section) if counts["compressed"] else (),
        mamba2=mamba2(section, states) if states else None,
        delta_net=delta_net(section, counts["delta_net"]) if counts["delta_net"] else None,
        lightning=lightning(section, counts["lightning"]) if counts["lightning"] else None,
        short_convolution=short_convolution(section, counts["short_convolution"])
        if counts["short_convolution"]
        else None,
    )


def _grouped(section: Section, kind: LayerKind, kinds: list[LayerKind]) -> dict[str, Any]:
    """The fields that full, sliding-window and chunked attention have in common."""
    places = [place for place, found in enumerate(kinds) if found == kind or (kind, found) == ("full", "both")]
    heads = _heads(section, kind, places)
    kv_heads = section.whole_or("num_key_value_heads", heads, kind) or heads
    if section.rules.layers.blocks:
        kv_heads = blocked_kv_heads(section, heads)
    size = head_size(section, heads, kind)
    traits = section.rules.traits
    if heads % kv_heads:
        expected = f"a divisor of the {heads} attention heads"
        section.refuse(section.key_of("num_key_value_heads", kind), shown(kv_heads), expected)
    value_size = section.whole_or("v_head_dim", size, kind)
    shared = section.whole_or("num_kv_shared_layers", 0)
    own = [place for place in places if place < len(kinds) - shared]
    key_is_value = kind == "full" and section.trait(traits.key_is_value)
    return {
        "layers": len(places),
        "heads": heads,
        "kv_heads": kv_heads,
        "head_size": size,
        "value_head_size": value_size if value_size != size else None,
        "kv_layers": len(own) if shared else None,
        "qkv_bias": section.trait(traits.qkv_bias),
        "output_bias": section.trait(traits.output_bias),
        "qk_norm": section.trait(traits.qk_norm),
        "key_is_value": key_is_value,
        "gated": section.trait(traits.gated_attention),
        "sinks": section.trait(traits.sinks),
        "indexer": _indexer(section, len(places)) if kind == "full" else None,
    }


def head_size(section: Section, heads: int, kind: LayerKind | None = None) -> int:
    """The width of a head: stated, or the hidden size over the heads as every class has it by default."""
    if section.get("head_dim", kind) is not None:
        return section.whole("head_dim", kind)
    hidden = section.whole("hidden_size")
    if hidden % heads:
        expected = f"a multiple of the {heads} attention heads, or a key 'head_dim'"
        section.refuse(section.key_of("hidden_size"), shown(hidden), expected)
    return max(1, hidden // heads)


def _heads(section: Section, kind: LayerKind, places: list[int]) -> int:
    listed = section.items(PER_LAYER_HEADS)
    if listed is None:
        return section.whole("num_attention_heads", kind)
    found = {listed[place] for place in places if place < len(listed)}
    if len(found) != 1 or not all(isinstance(heads, int) for heads in found):
        expected = f"one whole number of heads for all {kind} layers"
        section.refuse(PER_LAYER_HEADS, shown(sorted(map(str, found))), expected)
        return 1
    return int(found.pop())


def _latent(section: Section, layers: int) -> LatentAttention:
    query_rank = section.whole_or("q_lora_rank", 0)
    return LatentAttention(
        layers=layers,
        heads=section.whole("num_attention_heads"),
        kv_lora_rank=section.whole("kv_lora_rank"),
        rope_head_size=section.whole("qk_rope_head_dim"),
        nope_head_size=section.whole("qk_nope_head_dim"),
        value_head_size=section.whole("v_head_dim"),
        q_lora_rank=query_rank or None,
        indexer=_indexer(section, layers),
    )


def _indexer(section: Section, layers: int) -> SparseIndexer | None:
    if section.get("index_topk") is None:
        return None
    listed = section.items(section.key_of("indexer_types")) or ()
    own = [word for word in listed if str(word) in INDEXED]
    return SparseIndexer(
        heads=section.whole("index_n_heads"),
        head_size=section.whole("index_head_dim"),
        top_k=section.whole("index_topk"),
        layers=len(own) if own and len(own) != layers else None,
    )
