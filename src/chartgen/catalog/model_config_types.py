"""Model types: how the config.json of one `model_type` is to be read.

One file per type in `data/model_types`. It says what the class of that type fixes and config.json therefore
leaves out: biases, norms, which layers are which, how keys are spelled. A type without a file is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, TypeAlias

from chartgen.catalog.store import Store
from chartgen.kernel.dataclass import dataclass

LayerKind = Literal[
    "full",
    "sliding_window",
    "chunked_local",
    "latent",
    "compressed",
    "mamba2",
    "delta_net",
    "lightning",
    "short_convolution",
    "dense",
    "experts",
    "both",
    "none",
]
"""What one layer is. `dense` and `experts` are layers without attention (Nemotron-H); `both` has full attention
and a Mamba-2 state side by side (Falcon-H1); `none` mixes no tokens (Nemotron Super)."""

Trait: TypeAlias = bool | str
"""A property of the class: true or false, or the key of config.json that says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Which layers are of which kind."""

    most: LayerKind = "full"
    """The kind of every layer that no list and no period names."""
    listed: tuple[str, ...] = ("layer_types",)
    """Keys of a list (or text) with one word, number or letter a layer; the first that is present decides."""
    words: Mapping[str, LayerKind] = field(default_factory=dict)
    """Words of that list beyond full_attention, sliding_attention and chunked_attention."""
    numbered: Mapping[LayerKind, str] = field(default_factory=dict)
    """Kinds whose layers stand in a list of layer numbers, with the key of that list."""
    period: str = ""
    """The key of a period n: layer n, 2n, ... is full attention where no list says otherwise."""
    blocks: str = ""
    """The key of a list of objects, one a layer, each with an attention and a feed-forward part (Nemotron Super)."""
    window_key: str = "sliding_window"
    """The key of the window, or of the chunk, of layers that have one."""
    window_everywhere: bool = False
    """A window in config.json means all layers (Mistral 7B, StarCoder2)."""
    window_switch: str = ""
    """The key that must be true for the window to count, from layer `max_window_layers` on (Qwen 2, 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertRule:
    """Where a type's experts are and how their keys are spelled."""

    placement: Literal["all", "after_dense", "sparse_step", "interleaved", "range", "layers"] = "all"
    """Which layers have experts; see `model_config_feed_forward`."""
    count: str = "num_experts"
    """The key of the number of routed experts."""
    per_token: str = "num_experts_per_tok"  # noqa: S105 - a token of text
    """The key of the experts a token is routed to."""
    width: str = "moe_intermediate_size"
    """The key of the width of one routed expert."""
    shared_count: str = ""
    """The key of the number of shared experts, each as wide as `shared_each` or a routed one."""
    shared_each: str = ""
    """The key of the width of one shared expert where it differs from a routed one."""
    shared_width: str = ""
    """The key of the width of all shared experts together."""
    latent_width: str = ""
    """The key of the width around routed experts."""
    shared_gate: bool = False
    """The shared expert has a scalar gate."""
    bias: bool = False
    """Expert matrices have biases."""
    gated: bool = True
    """Three matrices an expert rather than two."""
    beside_dense: bool = False
    """Layers with experts have a dense block too (Gemma 4)."""
    by_modality: bool = False
    """Count and width are lists, one entry for text and one for images; a layer holds both groups (Ernie VL)."""
    switch: str = ""
    """The key that must be true for there to be experts at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the class fixes about its layers."""

    qkv_bias: Trait = False
    """Query, key and value projections have a bias."""
    output_bias: Trait = False
    """The output projection has a bias."""
    qk_norm: Trait = False
    """Queries and keys are normalised."""
    gated_attention: Trait = False
    """The attention output has a gate as wide as the queries."""
    key_is_value: Trait = False
    """Full layers share one projection for keys and values."""
    sinks: Trait = False
    """Query heads have sinks."""
    dense_width: str = "intermediate_size"
    """The key of the width of a dense block."""
    gated: bool = True
    """Dense blocks have three matrices rather than two."""
    mlp_bias: Trait = False
    """Dense blocks have biases."""
    norms_per_layer: int = 2
    """Normalisations as wide as the hidden size in one layer."""
    learned_positions: int | None = None
    """Rows that a learned position embedding has beyond the position limit; None without one."""
    per_channel_decay: bool = False
    """The forget gate of delta-rule layers is one value a channel."""
    rope: Literal["one", "by_kind", "none"] = "one"
    """One rotary table, one each for full and for windowed layers, or none at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelType:
    """How the config.json of one `model_type` is read."""

    source: str
    """Where the class stands, as a public address."""
    checked: str
    """The day it was read."""
    aliases: tuple[str, ...] = ()
    """Other values of `model_type` that are read the same way."""
    text: tuple[str, ...] = ()
    """Keys of the nested config of the language model; the first that is present counts."""
    text_type: str | None = None
    """The type of the language model where the nested config names none, or where nothing is nested."""
    vision: str | None = None
    """The formula for the vision tower; None where the type has none, or none is known."""
    image_tokens: int | None = None
    """Tokens of the largest image by the type's own image settings, which the engine encodes while it profiles."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Our names of keys (those of most types) to this type's spelling; dots step into nested objects."""
    shapes: Mapping[LayerKind, Mapping[str, str]] = field(default_factory=dict)
    """The same for one kind of layer only: a key that is absent falls back to the plain one."""
    defaults: Mapping[str, int | float | bool | str] = field(default_factory=dict)
    """Values of the class for keys that published configs of this type leave out."""
    layers: Layers = Layers()
    """Which layers are of which kind."""
    experts: ExpertRule | None = None
    """Its experts."""
    traits: Traits = Traits()
    """What the class fixes."""
    key: str = ""
    """The value of `model_type`; the file name, filled by the loader."""
    origin: str = "catalog"
    """Where the entry comes from; filled by the loader."""


STORE: Final = Store("model type", "model_types", ModelType)

HINT: Final = "a fact file of the model in a folder of your own would do"


def model_type(name: str) -> ModelType:
    """The rules for configs with this `model_type`.

    Raises:
        UnknownName: no rules are known for it.
    """
    return STORE.get(name, hint=HINT)


def model_types() -> list[ModelType]:
    """Every type that can be read, in the order of names."""
    return list(STORE.all())
