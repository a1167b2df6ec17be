"""DeepSeek V4's compressed attention: layers of each ratio, with the parameters of one.

Shapes as in transformers 5.24, models/deepseek_v4/modeling_deepseek_v4.py (https://github.com/huggingface/transformers).
"""

from __future__ import annotations

from collections import Counter

from chartgen.catalog.model_attention import CompressedAttention
from chartgen.catalog.model_config_section import Section
from chartgen.kernel.structure import shown

RATIOS = "compress_ratios"
"""One number a layer; layers for multi-token prediction follow at the end."""
INDEXED = 4
"""The ratio whose layers also have an indexer, and compressors of two overlapping windows."""


def compressed(section: Section) -> tuple[CompressedAttention, ...]:
    """The kinds of compressed layer, by ratio."""
    count = section.whole("num_hidden_layers")
    ratios = section.items(RATIOS)
    if ratios is None or len(ratios) < count:
        found = "nothing" if ratios is None else f"{len(ratios)} ratios"
        section.refuse(RATIOS, found, f"a list of {count} ratios, one a layer")
        return ()
    for index, ratio in enumerate(ratios[:count]):
        if isinstance(ratio, bool) or not isinstance(ratio, int) or ratio < 0:
            section.refuse(RATIOS, shown(ratio), "a ratio of tokens to entries, or 0", index=index)
            return ()
    return tuple(
        CompressedAttention(layers=layers, ratio=ratio, parameters=_parameters(section, ratio))
        for ratio, layers in sorted(Counter(ratios[:count]).items())
    )


def _parameters(section: Section, ratio: int) -> int:
    hidden, head = section.whole("hidden_size"), section.whole("head_dim")
    heads, query_rank = section.whole("num_attention_heads"), section.whole("q_lora_rank")
    groups, output_rank = section.whole("o_groups"), section.whole("o_lora_rank")
    queries = hidden * query_rank + query_rank + query_rank * heads * head
    keys = hidden * head + head
    output = heads * head * output_rank + groups * output_rank * hidden
    base = queries + keys + output + heads
    if ratio == 0:
        return base
    if ratio != INDEXED:
        return base + _compressor(hidden, head, ratio, windows=1)
    index_heads, index_head = section.whole("index_n_heads"), section.whole("index_head_dim")
    indexer = _compressor(hidden, index_head, ratio, windows=2)
    indexer += query_rank * index_heads * index_head + hidden * index_heads
    return base + _compressor(hidden, head, ratio, windows=2) + indexer


def _compressor(hidden: int, head: int, ratio: int, *, windows: int) -> int:
    """Key-value and gate projections, position bias and norm of one compressor."""
    width = windows * head
    return 2 * hidden * width + ratio * width + head


def hyper_connections(section: Section) -> int:
    """Parameters of the residual streams' mixing: two blocks a layer, and a head that joins the streams."""
    streams = section.whole("hc_mult")
    mixed = (2 + streams) * streams
    width = streams * section.whole("hidden_size")
    block = mixed * width + mixed + 3
    head = streams * width + streams + 1
    return 2 * section.whole("num_hidden_layers") * block + head
