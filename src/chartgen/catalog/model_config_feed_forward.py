"""The feed-forward blocks of a config.json: which layers are dense, which have experts, and how wide they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from chartgen.catalog.model_config_blocks import block_feed_forward
from chartgen.catalog.model_config_section import Section
from chartgen.catalog.model_config_types import ExpertRule, LayerKind
from chartgen.catalog.models import Experts, FeedForward
from chartgen.kernel.structure import shown

WORDS = {"sparse": True, "moe": True, "dense": False, "1": True, "0": False}
"""Words of a list that says for each layer whether it has experts."""


def feed_forward(section: Section, kinds: list[LayerKind]) -> tuple[FeedForward | None, Experts | None]:
    """The dense and the expert blocks of a model. Problems are kept in the section."""
    rule = section.rules.experts
    if section.rules.layers.blocks:
        return block_feed_forward(section), None
    alone = Counter(kinds)
    if rule and rule.placement == "layers":
        experts = _experts(section, rule, alone["experts"]) if alone["experts"] else None
        return (_dense(section, alone["dense"]) if alone["dense"] else None), experts
    layers = len(kinds)
    if rule is None or not _has_experts(section, rule):
        return _dense(section, layers), None
    sparse = min(layers, _sparse_layers(section, rule, layers))
    dense = layers if rule.beside_dense else layers - sparse
    return (_dense(section, dense) if dense else None), _experts(section, rule, sparse)


def _has_experts(section: Section, rule: ExpertRule) -> bool:
    if rule.switch and not section.flag(rule.switch):
        return False
    count = section.get(rule.count)
    return count not in (None, 0) or rule.placement == "all"


def _dense(section: Section, layers: int) -> FeedForward:
    traits = section.rules.traits
    width = _width(section, traits.dense_width)
    return FeedForward(
        layers=layers,
        width=width,
        total_width=_doubled(section, layers, width),
        gated=traits.gated,
        bias=section.trait(traits.mlp_bias),
    )


def _doubled(section: Section, layers: int, width: int) -> int | None:
    """Gemma 4: the layers that reuse keys and values are twice as wide where `use_double_wide_mlp` says so."""
    if not section.flag("use_double_wide_mlp"):
        return None
    return width * (layers + section.whole_or("num_kv_shared_layers", 0))


def _width(section: Section, key: str) -> int:
    """A width, or a list of one width for every layer (Gemma 3n)."""
    listed = section.raw(key)
    if isinstance(listed, list) and len(set(map(str, listed))) == 1 and isinstance(listed[0], int):
        return listed[0]
    width = section.whole(key)
    if section.flag("block_auto_adjust_ff_dim"):  # LFM2 states the width of two matrices, and has three
        step = section.whole("block_multiple_of")
        return -(-(2 * width // 3) // step) * step
    return width


def _experts(section: Section, rule: ExpertRule, layers: int) -> Experts:
    width = sum(_listed_whole(section, rule.width)) if rule.by_modality else section.whole(rule.width)
    latent = section.whole_or(rule.latent_width, 0) if rule.latent_width else 0
    return Experts(
        layers=layers,
        count=_listed_whole(section, rule.count)[0] if rule.by_modality else section.whole(rule.count),
        per_token=section.whole(rule.per_token),
        width=width,
        shared_width=_shared_width(section, rule, width),
        shared_gate=rule.shared_gate,
        gated=rule.gated,
        bias=rule.bias,
        latent_width=latent or None,
    )


def _listed_whole(section: Section, key: str) -> list[int]:
    """Whole numbers, one a modality (Ernie's text and vision experts, of which a layer holds both)."""
    listed = section.raw(key)
    if isinstance(listed, list) and listed and all(isinstance(item, int) for item in listed):
        return listed
    return [section.whole(key)]


def _shared_width(section: Section, rule: ExpertRule, width: int) -> int:
    if rule.shared_width:
        return section.whole_or(rule.shared_width, 0)
    if not rule.shared_count:
        return 0
    each = section.whole_or(rule.shared_each, width) if rule.shared_each else width
    return section.whole_or(rule.shared_count, 0) * each


def _sparse_layers(section: Section, rule: ExpertRule, layers: int) -> int:
    """How many layers have experts: as a list says layer by layer, or as the type places them."""
    for key in ("mlp_layer_types", "moe_layer_freq"):
        listed = section.raw(key)
        if isinstance(listed, list):
            return _marked(section, key, listed, layers)
    place = _PLACEMENTS.get(rule.placement)
    return place(section, layers) if place else layers


def _after_dense(section: Section, layers: int) -> int:
    """DeepSeek: after the first dense layers, every so many."""
    first = section.whole_or("first_k_dense_replace", 0)
    return len(range(first, layers, section.whole_or("moe_layer_freq", 1) or 1))


def _sparse_step(section: Section, layers: int) -> int:
    """Qwen: every so many layers, some left out by number."""
    step = section.whole_or("decoder_sparse_step", 1) or 1
    left_out = set(map(str, section.items("mlp_only_layers") or ()))
    return sum((layer + 1) % step == 0 and str(layer) not in left_out for layer in range(layers))


def _interleaved(section: Section, layers: int) -> int:
    """Llama 4: the layers of a list, or every so many."""
    listed = section.items("moe_layers")
    step = section.whole_or("interleave_moe_layer_step", 1) or 1
    return len(listed) if listed is not None else layers // step


def _ranged(section: Section, layers: int) -> int:
    """Ernie: experts from one layer to another, every so many; -1 is the last layer."""
    first = _first(section, "moe_layer_start_index")
    stated = section.raw("moe_layer_end_index")
    ends = [item for item in (stated if isinstance(stated, list) else [stated]) if isinstance(item, int)]
    last = max(ends, default=-1)
    last = layers - 1 if last < 0 else last
    step = section.whole_or("moe_layer_interval", 1) or 1
    return sum(first <= layer <= last and (layer + 1) % step == 0 for layer in range(layers))


def _first(section: Section, key: str) -> int:
    value = section.raw(key)
    whole = [item for item in value if isinstance(item, int)] if isinstance(value, list) else []
    return min(whole) if whole else section.whole_or(key, 0)


def _marked(section: Section, key: str, listed: list[object], layers: int) -> int:
    if len(listed) != layers:
        section.refuse(key, f"{len(listed)} layers", f"{layers} layers, as num_hidden_layers says")
    for index, word in enumerate(listed):
        if str(word) not in WORDS:
            section.refuse(key, shown(word), "sparse or dense, 1 or 0", index=index)
            break
    return sum(WORDS.get(str(word), False) for word in listed)


_PLACEMENTS: Final[Mapping[str, Callable[[Section, int], int]]] = MappingProxyType(
    {
        "after_dense": _after_dense,
        "sparse_step": _sparse_step,
        "interleaved": _interleaved,
        "range": _ranged,
    }
)
"""How types place their experts; `all` and `layers` need no rule."""
