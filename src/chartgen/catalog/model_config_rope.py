"""The rotary tables that the engine makes from a config.json, where they are not the plain one.

vLLM 0.33.0, vllm/model_executor/layers/rotary_embedding: rows are the position limit; times the factor for
linear scaling; the original limit times the factor for YaRN; both limits together for LongRoPE; four times as
many for positions on several axes (mrope). https://github.com/vllm-project/vllm/tree/v0.33.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.catalog.model_attention import Attention, LatentAttention
from chartgen.catalog.model_config_section import Section
from chartgen.catalog.models import RopeTable

AXES_ROWS: Final = 4
"""Rows per position where positions have several axes. vLLM 0.33.0, rotary_embedding/mrope.py."""
WORDS: Final = {"sliding_window": "sliding_attention", "full": "full_attention"}


def rope_tables(section: Section, attention: Attention) -> tuple[RopeTable, ...]:
    """The tables; empty where they are one of the position limit and the head size, as `Model` takes it."""
    if section.rules.traits.rope == "none":
        return (RopeTable(positions=0, size=0),)
    limit = section.whole("max_position_embeddings")
    tables = tuple(_tables(section, attention, limit))
    widths = dict.fromkeys(width for _, width in _widths(attention))
    plain = tuple(RopeTable(positions=limit, size=width) for width in widths)
    return () if tables == plain else tables


def _widths(attention: Attention) -> Iterator[tuple[str, int]]:
    """Each kind of layer that rotates, with the width of its heads."""
    for name in ("full", "sliding_window", "chunked_local"):
        kind = getattr(attention, name)
        if kind is not None:
            yield name, kind.head_size
    if isinstance(attention.latent, LatentAttention):
        yield "latent", attention.latent.rope_head_size


def _tables(section: Section, attention: Attention, limit: int) -> Iterator[RopeTable]:
    seen = set()
    for name, width in _widths(attention):
        settings = _settings(section, attention, name)
        size = width if name == "latent" else _rotary(section, settings, width)
        original = settings.get("original_max_position_embeddings", section.raw("original_max_position_embeddings"))
        table = RopeTable(positions=_rows(settings, limit, original), size=size)
        separate = name if section.rules.traits.rope == "by_kind" else ""
        if (separate, table) not in seen:
            seen.add((separate, table))
            yield table


def _settings(section: Section, attention: Attention, name: str) -> Mapping[str, Any]:
    """The rope settings of one kind of layer, in the old spelling or in that of transformers 5."""
    new = section.raw("rope_parameters")
    if isinstance(new, Mapping):
        inner = new.get(WORDS.get(name, ""))
        return inner if isinstance(inner, Mapping) else new
    old = section.raw("rope_scaling")
    # Before transformers 5, the scaling of a model with local layers meant its full layers only.
    local = name == "sliding_window" and attention.full is not None and section.rules.traits.rope == "by_kind"
    return old if isinstance(old, Mapping) and not local else {}


def _rotary(section: Section, settings: Mapping[str, Any], width: int) -> int:
    stated = section.get("rotary_dim")
    if isinstance(stated, int) and stated > 0:
        return stated
    share = settings.get("partial_rotary_factor")
    share = section.get("partial_rotary_factor") if share is None else share
    if settings.get("rope_type") == "proportional":
        return width  # the engine turns only a share of the head but keeps the table whole
    return int(width * share) if isinstance(share, int | float) and 0 < share <= 1 else width


def _rows(settings: Mapping[str, Any], limit: int, original: object) -> int:
    kind = settings.get("rope_type", settings.get("type", "default"))
    factor = settings.get("factor")
    rows = limit
    if kind == "linear" and isinstance(factor, int | float):
        rows = round(limit * factor)
    elif kind == "yarn" and isinstance(factor, int | float) and isinstance(original, int):
        rows = round(original * factor)
    elif kind in ("longrope", "su") and isinstance(original, int):
        rows = original + limit
    return rows * AXES_ROWS if "mrope_section" in settings else rows
