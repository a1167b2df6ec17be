"""What the layers of one rank ask of the KV cache: bytes a token or a state, and how far back they reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch
from math import ceil
from typing import Literal

from chartgen.catalog.kv_dtypes import KvDtype
from chartgen.catalog.model_attention import (
    ChunkedLocal,
    DeltaNet,
    FullAttention,
    GroupedHeads,
    LatentAttention,
    LightningAttention,
    Mamba2,
    Mixer,
    ShortConvolution,
    SlidingWindow,
)
from chartgen.kernel.dataclass import dataclass
from chartgen.memory.parts import kv_heads_per_rank
from chartgen.memory.stages import Stage

Reach = Literal["full", "window", "chunk", "state"]
"""Which tokens a layer keeps: all, the last ones, those of a chunk, or none but a state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLayers:
    """Layers of one rank with the same cache."""

    reach: Reach
    """Which tokens they keep."""
    layers: int
    """How many layers."""
    token_bytes: float
    """Bytes of one token in one layer; 0 for a state."""
    block: int
    """Tokens of one block."""
    span: int = 0
    """The window or the chunk, in tokens."""
    state_bytes: int = 0
    """Bytes of the state of one sequence in one layer."""
    padded: int = 0
    """Bytes that a page is padded to; 0 for none."""
    packed: bool = False
    """Pages of different sizes lie side by side in one block, rather than being made alike."""

    @property
    def page(self) -> int:
        """Bytes of one block in one layer, padding included."""
        return max(self.padded, self.state_bytes, ceil(self.token_bytes * self.block))

    def blocks(self, length: int, in_flight: int, states: int = 1) -> int:
        """Blocks that a request of `length` tokens holds at most in one group of these layers.

        `in_flight` are the tokens scheduled but not settled; `states` the state slots of one sequence.
        """
        if self.reach == "state":
            return states
        if self.reach == "window":
            return -(-min(self.span - 1 + in_flight, length) // self.block) + 1
        kept = min(self.span + in_flight, length) if self.reach == "chunk" else length
        return -(-kept // self.block)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheChoice:
    """What the engine was told, or chose, about the cache."""

    dtype: KvDtype
    """Element type of the cache."""
    model_bytes: int
    """Bytes of an element of the model's dtype."""
    tensor_parallel: int
    """Tensor parallel size."""
    block: int
    """Block size of attention layers, in tokens."""
    latent_block: int
    """Block size of latent-attention layers, in tokens."""

    def cell(self, width: int) -> float:
        """Bytes of `width` elements of one head's keys and values."""
        return self.dtype.cell_bytes(width, self.model_bytes)


@singledispatch
def layers_of(kind: Mixer, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    """The cache of `count` layers of this kind on one rank.

    Raises:
        NotImplementedError: the engine's cache for this kind is not worked out.
    """
    msg = f"the cache of {type(kind).__name__} is not worked out"
    raise NotImplementedError(msg)


def _grouped(kind: GroupedHeads, count: int, choice: CacheChoice, reach: Reach, span: int) -> Iterator[CacheLayers]:
    held = count if kind.kv_layers is None else round(count * kind.kv_layers / kind.layers)
    heads = kv_heads_per_rank(kind.kv_heads, choice.tensor_parallel)
    width = kind.head_size + (kind.value_head_size or kind.head_size)
    bytes_ = heads * choice.cell(width)
    yield CacheLayers(reach=reach, layers=held, token_bytes=bytes_, block=choice.block, span=span)
    if kind.indexer:
        index = kind.indexer.head_size * choice.model_bytes
        indexed = round(held * (kind.indexer.layers or kind.layers) / kind.layers)
        yield CacheLayers(reach=reach, layers=indexed, token_bytes=index, block=choice.block, span=span)


@layers_of.register
def _full(kind: FullAttention, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    return _grouped(kind, count, choice, "full", 0)


@layers_of.register
def _window(kind: SlidingWindow, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    return _grouped(kind, count, choice, "window", kind.window)


@layers_of.register
def _chunked(kind: ChunkedLocal, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    return _grouped(kind, count, choice, "chunk", kind.chunk)


@layers_of.register
def _latent(kind: LatentAttention, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    """One latent vector a token on every rank; an indexer adds fp8 elements and an fp32 scale."""
    width = kind.kv_lora_rank + kind.rope_head_size
    fixed = choice.dtype.latent_token_bytes
    bytes_ = fixed or choice.cell(width)
    yield CacheLayers(reach="full", layers=count, token_bytes=bytes_, block=choice.latent_block)
    if kind.indexer:
        held = round(count * (kind.indexer.layers or kind.layers) / kind.layers)
        index = kind.indexer.head_size + 4
        yield CacheLayers(reach="full", layers=held, token_bytes=index, block=choice.latent_block)


@layers_of.register
def _mamba2(kind: Mamba2, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    tp = choice.tensor_parallel
    inner = kind.heads * kind.head_size
    conv = (inner + 2 * kind.groups * kind.state_size) // tp * (kind.conv_kernel - 1) * choice.model_bytes
    state = kind.heads // tp * kind.head_size * kind.state_size * (4 if kind.float32_state else choice.model_bytes)
    yield CacheLayers(reach="state", layers=count, token_bytes=0, block=choice.block, state_bytes=conv + state)


@layers_of.register
def _delta_net(kind: DeltaNet, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    tp = choice.tensor_parallel
    widths = 2 * kind.key_heads * kind.key_head_size + kind.value_heads * kind.value_head_size
    conv = widths // tp * (kind.conv_kernel - 1) * choice.model_bytes
    matrix = kind.value_head_size * kind.key_head_size
    state = kind.value_heads // tp * matrix * (4 if kind.float32_state else choice.model_bytes)
    yield CacheLayers(reach="state", layers=count, token_bytes=0, block=choice.block, state_bytes=conv + state)


@layers_of.register
def _lightning(kind: LightningAttention, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    state = kind.heads // choice.tensor_parallel * kind.head_size * kind.head_size * 4
    yield CacheLayers(reach="state", layers=count, token_bytes=0, block=choice.block, state_bytes=state)


@layers_of.register
def _short_convolution(kind: ShortConvolution, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    state = kind.width // choice.tensor_parallel * (kind.conv_kernel - 1) * choice.model_bytes
    yield CacheLayers(reach="state", layers=count, token_bytes=0, block=choice.block, state_bytes=state)


def cache_layers(stage: Stage, choice: CacheChoice) -> list[CacheLayers]:
    """What the layers of one rank of a stage ask of the cache, kinds without a layer left out."""
    return [
        layers for kind, count in stage.mixers if count for layers in layers_of(kind, count, choice) if layers.layers
    ]


def with_aligned_states(found: list[CacheLayers], alignment: int) -> list[CacheLayers]:
    """Attention blocks grown until one page holds a state, and states padded to that page.

    The engine does so for hybrids of attention and states (vLLM 0.33.0, docs and
    `verify_and_update_config` of hybrid models), in steps of `alignment` tokens.
    """
    states = [layers for layers in found if layers.reach == "state"]
    tokens = [layers for layers in found if layers.reach != "state"]
    if not states or not tokens:
        return found
    state = max(layers.state_bytes for layers in states)
    per_token = max(layers.token_bytes for layers in tokens)
    block = max(*(layers.block for layers in tokens), alignment * ceil(state / (alignment * per_token)))
    page = ceil(block * per_token)
    return [
        replace(layers, padded=page) if layers.reach == "state" else replace(layers, block=block) for layers in found
    ]
