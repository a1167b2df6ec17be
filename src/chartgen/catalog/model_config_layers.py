"""Which layer of a config.json is of which kind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chartgen.catalog.model_config_blocks import block_kinds
from chartgen.catalog.model_config_section import Section
from chartgen.catalog.model_config_types import LayerKind
from chartgen.kernel.errors import nearest_name
from chartgen.kernel.structure import one_of, shown

WORDS: Final[Mapping[str, LayerKind]] = MappingProxyType(
    {
        "full_attention": "full",
        "sliding_attention": "sliding_window",
        "chunked_attention": "chunked_local",
    }
)
"""What transformers calls layers in `layer_types`. https://github.com/huggingface/transformers"""


MAX_LAYERS: Final = 10_000
"""No model has a tenth as many layers; a larger number is a mistake, and would only cost memory here."""


def layer_kinds(section: Section) -> list[LayerKind]:
    """The kind of every layer, in order. Problems are kept in the section."""
    rules = section.rules.layers
    if rules.blocks:
        return block_kinds(section)
    key = next((key for key in rules.listed if section.raw(key) is not None), None)
    listed = section.items(key) if key else None
    if listed is not None and key is not None:
        stated = section.get("num_hidden_layers") is not None
        return _listed(section, key, list(listed), _count(section) if stated else len(listed))
    count = _count(section)
    if rules.numbered:
        return _numbered(section, count)
    if rules.window_switch:
        return _switched(section, count)
    return _regular(section, count)


def _count(section: Section) -> int:
    return section.whole("num_hidden_layers", most=MAX_LAYERS)


def _regular(section: Section, count: int) -> list[LayerKind]:
    """Every so many layers are full attention, or all layers are alike."""
    rules = section.rules.layers
    if rules.period and section.get(rules.period) is not None:
        period = section.whole(rules.period)
        return ["full" if (layer + 1) % period == 0 else rules.most for layer in range(count)]
    window = section.raw(rules.window_key)
    if window is not None and rules.window_everywhere:
        return ["sliding_window"] * count
    if window is not None and rules.most == "full":
        found = f"null: {section.rules.key} models have no such window"
        found += f"; a list {rules.listed[0]!r} would say which layers have one" if rules.listed else ""
        section.refuse(rules.window_key, shown(window), found)
    return [rules.most] * count


def _listed(section: Section, key: str, words: list[object], count: int) -> list[LayerKind]:
    known = {**WORDS, **section.rules.layers.words}
    kinds: list[LayerKind] = []
    unknown: set[str] = set()
    for index, word in enumerate(words):
        kind = known.get(str(word))
        if kind is None and str(word) not in unknown:
            unknown.add(str(word))
            near = nearest_name(str(word), known)
            found = f"the unknown layer type {shown(word)}"
            section.refuse(key, found, one_of(sorted(known)), index=index, nearest=near)
        kinds.append(kind or "full")
    if len(words) != count:
        section.refuse(key, f"{len(words)} layers", f"{count} layers, as num_hidden_layers says")
    return kinds


def _numbered(section: Section, count: int) -> list[LayerKind]:
    """Layers named by their numbers; those that no list names are of the type's usual kind."""
    rules = section.rules.layers
    kinds: list[LayerKind] = [rules.most] * count
    for kind, key in rules.numbered.items():
        for index, number in enumerate(section.items(key) or ()):
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= count:
                section.refuse(key, shown(number), f"a layer number up to {count}", index=index)
            else:
                # Kimi counts layers from one, LFM from zero: only how many there are matters here.
                kinds[number - 1] = kind
    return kinds


def _switched(section: Section, count: int) -> list[LayerKind]:
    """Qwen 2 and 3: a window only if switched on, and only above the first `max_window_layers`."""
    rules = section.rules.layers
    if not section.flag(rules.window_switch) or section.raw(rules.window_key) is None:
        return ["full"] * count
    first = section.whole_or("max_window_layers", 0)
    return ["full" if layer < first else "sliding_window" for layer in range(count)]
