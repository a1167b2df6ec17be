"""How layers mix tokens: each kind of attention or state, with the shapes that memory and speed follow from.

A model says which kinds it has and how many layers of each. Sizes are whole-model sizes, before any tensor
parallel split. "Head size" is the width of one head in elements.
"""

from __future__ import annotations

from typing import TypeAlias

from chartgen.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseIndexer:
    """The small side attention that picks tokens for sparse attention (DeepSeek V3.2, GLM 5, MiniMax M3)."""

    heads: int
    """Index heads."""
    head_size: int
    """Width of an index head; the cache holds one vector as wide for each token, on every rank."""
    top_k: int
    """Tokens, or blocks of tokens, picked per query."""
    layers: int | None = None
    """Layers that hold an index of their own where some layers reuse another layer's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedHeads:
    """Query heads that share fewer key-value heads (GQA; MQA with one, MHA with as many)."""

    layers: int
    """How many layers are of this kind."""
    heads: int
    """Query heads."""
    kv_heads: int
    """Key-value heads."""
    head_size: int
    """Width of a query and key head."""
    value_head_size: int | None = None
    """Width of a value head where it differs from `head_size`."""
    kv_layers: int | None = None
    """Layers with a cache of their own where some layers read another layer's (Gemma 3n, small Gemma 4)."""
    qkv_bias: bool = False
    """Query, key and value projections have a bias."""
    output_bias: bool = False
    """The output projection has a bias."""
    qk_norm: bool = False
    """Queries and keys are normalised per head."""
    key_is_value: bool = False
    """Keys and values share one projection (Gemma 4's full layers); the engine loads and caches both."""
    gated: bool = False
    """The attention output is multiplied by a gate as wide as the queries (Qwen3-Next, Qwen3.5)."""
    sinks: bool = False
    """Each query head has a learned sink (gpt-oss)."""
    indexer: SparseIndexer | None = None
    """The sparse-attention indexer, where the model has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FullAttention(GroupedHeads):
    """Every token attends to all tokens before it: the cache grows with the whole length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindow(GroupedHeads):
    """Every token attends to the last `window` tokens: the cache stops growing there."""

    window: int
    """Tokens a layer looks back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedLocal(GroupedHeads):
    """Every token attends within its chunk (Llama 4): the cache stops growing at one chunk."""

    chunk: int
    """Tokens of one chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (MLA): the cache is one latent vector a token, the same on every rank."""

    layers: int
    """How many layers are of this kind."""
    heads: int
    """Query heads."""
    kv_lora_rank: int
    """Width of the latent vector."""
    rope_head_size: int
    """Width of the shared rotary key beside it."""
    nope_head_size: int
    """Width of the non-rotary part of a query or key head."""
    value_head_size: int
    """Width of a value head."""
    q_lora_rank: int | None = None
    """Width of the compressed query; None where queries are projected directly."""
    indexer: SparseIndexer | None = None
    """The sparse-attention indexer, where the model has one; it caches fp8 and one fp32 scale a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedAttention:
    """DeepSeek V4's layers of one compression ratio: a window in full, older tokens as compressed latents."""

    layers: int
    """How many layers have this ratio."""
    ratio: int
    """Tokens that share one compressed entry; 0 for a layer with the window only."""
    parameters: int = 0
    """Parameters of the attention, compressor and indexer of one such layer together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mamba2:
    """A state-space layer (Mamba-2): a state of fixed size per sequence, whatever its length."""

    layers: int
    """How many layers are of this kind."""
    heads: int
    """State heads."""
    head_size: int
    """Width of a state head; heads x head size is the inner width."""
    state_size: int
    """Width of the state (N)."""
    groups: int
    """Groups that share B and C."""
    conv_kernel: int
    """Taps of the causal convolution."""
    conv_bias: bool = True
    """The convolution has a bias."""
    float32_state: bool = True
    """The engine keeps the recurrent state in float32 rather than in the model's dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaNet:
    """A gated delta-rule linear-attention layer (Qwen3-Next, Qwen3.5; Kimi Linear as `per_channel`)."""

    layers: int
    """How many layers are of this kind."""
    key_heads: int
    """Query and key heads."""
    value_heads: int
    """Value heads."""
    key_head_size: int
    """Width of a query or key head."""
    value_head_size: int
    """Width of a value head."""
    conv_kernel: int
    """Taps of the causal convolution."""
    per_channel: bool = False
    """The forget gate is one value a channel (Kimi Linear, Kimi K3, Ling 3)."""
    full_gates: int = 0
    """How many of the forget and the output gate are whole matrices; the others pass through one head's width."""
    float32_state: bool = False
    """The engine keeps the recurrent state in float32 rather than in the model's dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortConvolution:
    """A gated short convolution (LFM2): the state is the last few inputs of each channel."""

    layers: int
    """How many layers are of this kind."""
    width: int
    """Channels."""
    conv_kernel: int
    """Taps of the causal convolution."""
    bias: bool = False
    """The convolution and its projections have biases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LightningAttention:
    """A linear-attention layer with a fixed decay (MiniMax-Text-01): one fp32 matrix a head."""

    layers: int
    """How many layers are of this kind."""
    heads: int
    """Heads."""
    head_size: int
    """Width of a head: the state is head size x head size."""


Cached: TypeAlias = FullAttention | SlidingWindow | ChunkedLocal | LatentAttention
"""Kinds whose cache is blocks of tokens."""
Stateful: TypeAlias = Mamba2 | DeltaNet | LightningAttention | ShortConvolution
"""Kinds whose cache is one state a sequence."""
Mixer: TypeAlias = Cached | Stateful | CompressedAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The kinds of layer a model mixes tokens with. At least one is given."""

    full: FullAttention | None = None
    """Full attention layers."""
    sliding_window: SlidingWindow | None = None
    """Sliding-window layers."""
    chunked_local: ChunkedLocal | None = None
    """Chunked local layers."""
    latent: LatentAttention | None = None
    """Latent-attention (MLA) layers."""
    compressed: tuple[CompressedAttention, ...] = ()
    """Compressed-attention layers, one entry per ratio."""
    mamba2: Mamba2 | None = None
    """State-space layers."""
    delta_net: DeltaNet | None = None
    """Delta-rule linear-attention layers."""
    lightning: LightningAttention | None = None
    """Lightning linear-attention layers."""
    short_convolution: ShortConvolution | None = None
    """Short-convolution layers."""

    def kinds(self) -> tuple[Mixer, ...]:
        """The kinds the model has, cached ones first."""
        single = (
            self.full,
            self.sliding_window,
            self.chunked_local,
            self.latent,
            self.mamba2,
            self.delta_net,
            self.lightning,
            self.short_convolution,
        )
        return (*(kind for kind in single if kind is not None), *self.compressed)
