"""The parts of a model as one rank holds them: tensors by part, after the tensor parallel split.

Column and row parallel matrices are split evenly. What the engine keeps whole on every rank (norms, routers,
the down-projections of latent attention, key-value heads beyond their number) is counted whole. Matrices that
the engine fuses (query, key and value; gate and up; all experts of a block) are one tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch

from chartgen.catalog.model_attention import (
    ChunkedLocal,
    CompressedAttention,
    DeltaNet,
    FullAttention,
    GroupedHeads,
    LatentAttention,
    LightningAttention,
    Mamba2,
    Mixer,
    ShortConvolution,
    SlidingWindow,
    SparseIndexer,
)
from chartgen.catalog.models import Experts, FeedForward, Model, Part
from chartgen.kernel.dataclass import dataclass
from chartgen.memory.stages import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Tensors of one shape and one part on one rank."""

    part: Part
    """The part they belong to: what quantization treats alike."""
    parameters: float
    """Parameters of one tensor, on this rank."""
    tensors: int = 1
    """How many such tensors: one a layer."""
    matrix: bool = True
    """A weight matrix, which quantization can shrink; False for norms, biases, convolutions, scalars."""
    copied: bool = False
    """The engine keeps a second copy in the model's dtype once this one is quantized."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Padding:
    """Multiples that a kernel rounds the experts' sizes up to, on one rank."""

    hidden: int = 1
    """Multiple of the hidden size."""
    width: int = 1
    """Multiple of the intermediate width."""


def kv_heads_per_rank(kv_heads: int, tensor_parallel: int) -> int:
    """Key-value heads on one rank: split while there are enough, replicated beyond."""
    return max(1, kv_heads // tensor_parallel)


@singledispatch
def mixer_pieces(kind: Mixer, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    """The pieces of one layer of this kind on one rank.

    Raises:
        NotImplementedError: the weights of this kind are not worked out.
    """
    msg = f"the weights of {type(kind).__name__} are not worked out"
    raise NotImplementedError(msg)


@mixer_pieces.register(FullAttention)
@mixer_pieces.register(SlidingWindow)
@mixer_pieces.register(ChunkedLocal)
def _grouped(kind: GroupedHeads, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    value = kind.value_head_size or kind.head_size
    heads = kind.heads / tensor_parallel
    kv_heads = kv_heads_per_rank(kind.kv_heads, tensor_parallel) if kind.kv_heads else 0
    queries = heads * kind.head_size * (2 if kind.gated else 1)
    keys = kv_heads * (kind.head_size + value)
    yield Piece(part="attention", parameters=hidden * (queries + keys))
    yield Piece(part="attention", parameters=hidden * heads * value)
    small = (queries + keys if kind.qkv_bias else 0) + (hidden if kind.output_bias else 0)
    small += 2 * kind.head_size if kind.qk_norm else 0
    yield Piece(part="attention", parameters=small + (heads if kind.sinks else 0), matrix=False)
    if kind.indexer:
        share = (kind.indexer.layers or kind.layers) / kind.layers
        width = (kind.indexer.heads + 1) * kind.indexer.head_size
        yield Piece(part="attention", parameters=share * hidden * width)


@mixer_pieces.register
def _latent(kind: LatentAttention, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    heads = kind.heads / tensor_parallel
    query = heads * (kind.nope_head_size + kind.rope_head_size)
    down = kind.kv_lora_rank + kind.rope_head_size + (kind.q_lora_rank or 0)
    up = kind.kv_lora_rank * heads * (kind.nope_head_size + kind.value_head_size)
    yield Piece(part="attention", parameters=hidden * down)
    yield Piece(part="attention", parameters=(kind.q_lora_rank or hidden) * query)
    yield Piece(part="attention", parameters=up, copied=True)
    yield Piece(part="attention", parameters=heads * kind.value_head_size * hidden)
    yield Piece(part="norms", parameters=kind.kv_lora_rank + (kind.q_lora_rank or 0), matrix=False)
    if kind.indexer:
        yield from _indexer(kind.indexer, kind, hidden)


def _indexer(indexer: SparseIndexer, kind: LatentAttention, hidden: int) -> Iterator[Piece]:
    """The indexer is replicated on every rank; layers that reuse a choice carry none."""
    share = (indexer.layers or kind.layers) / kind.layers
    width = indexer.heads * indexer.head_size
    matrices = (kind.q_lora_rank or hidden) * width + hidden * indexer.head_size
    yield Piece(part="attention", parameters=share * matrices)
    yield Piece(part="attention", parameters=share * hidden * indexer.heads, matrix=False)


@mixer_pieces.register
def _mamba2(kind: Mamba2, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    inner = kind.heads * kind.head_size / tensor_parallel
    shared = 2 * max(1, kind.groups / tensor_parallel) * kind.state_size
    heads = kind.heads / tensor_parallel
    yield Piece(part="linear_attention", parameters=hidden * (2 * inner + shared + heads))
    yield Piece(part="linear_attention", parameters=inner * hidden)
    taps = (inner + shared) * (kind.conv_kernel + (1 if kind.conv_bias else 0))
    yield Piece(part="linear_attention", parameters=taps + 3 * heads + inner, matrix=False)


@mixer_pieces.register
def _delta_net(kind: DeltaNet, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    keys = kind.key_heads * kind.key_head_size / tensor_parallel
    values = kind.value_heads * kind.value_head_size / tensor_parallel
    heads = kind.value_heads / tensor_parallel
    yield Piece(part="linear_attention", parameters=values * hidden)
    if kind.per_channel:
        # query, key and value; of the forget and the output gate, some are whole matrices, the others pass
        # through one head's width
        narrow = (hidden + values) * kind.value_head_size
        gates = kind.full_gates * hidden * values + (2 - kind.full_gates) * narrow
        yield Piece(part="linear_attention", parameters=hidden * (2 * keys + values))
        yield Piece(part="linear_attention", parameters=gates + hidden * heads)
    else:
        # query, key, value and gate; beta and decay are one value a head
        yield Piece(part="linear_attention", parameters=hidden * (2 * keys + 2 * values))
        yield Piece(part="linear_attention", parameters=hidden * 2 * heads, matrix=False)
    taps = (2 * keys + values) * kind.conv_kernel
    yield Piece(part="linear_attention", parameters=taps + 2 * heads + kind.value_head_size, matrix=False)


@mixer_pieces.register
def _lightning(kind: LightningAttention, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    inner = kind.heads * kind.head_size / tensor_parallel
    yield Piece(part="linear_attention", parameters=3 * hidden * inner)
    yield Piece(part="linear_attention", parameters=hidden * inner, tensors=2)
    yield Piece(part="norms", parameters=inner, matrix=False)


@mixer_pieces.register
def _short_convolution(kind: ShortConvolution, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    width = kind.width / tensor_parallel
    # the input projection makes the values and two gates
    yield Piece(part="linear_attention", parameters=3 * hidden * width)
    yield Piece(part="linear_attention", parameters=hidden * width)
    small = width * kind.conv_kernel + (4 * width + hidden if kind.bias else 0)
    yield Piece(part="linear_attention", parameters=small, matrix=False)


@mixer_pieces.register
def _compressed(kind: CompressedAttention, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    del hidden
    yield Piece(part="attention", parameters=kind.parameters / tensor_parallel)


def dense_pieces(block: FeedForward, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    """The pieces of one dense feed-forward block on one rank."""
    width = (block.total_width / block.layers if block.total_width else block.width) / tensor_parallel
    up = 2 if block.gated else 1
    yield Piece(part="feed_forward", parameters=up * hidden * width)
    yield Piece(part="feed_forward", parameters=hidden * width)
    if block.bias:
        yield Piece(part="feed_forward", parameters=up * width + hidden, matrix=False)


def expert_pieces(block: Experts, hidden: int, tensor_parallel: int, padding: Padding) -> Iterator[Piece]:
    """The pieces of one mixture-of-experts block on one rank."""
    up = 2 if block.gated else 1
    inside = _rounded(block.latent_width or hidden, padding.hidden)
    width = _rounded(block.width / tensor_parallel, padding.width)
    yield Piece(part="experts", parameters=block.count * up * inside * width)
    yield Piece(part="experts", parameters=block.count * inside * width)
    if block.bias:
        yield Piece(part="experts", parameters=block.count * (width * up + inside), matrix=False)
    if block.latent_width:
        yield Piece(part="shared_experts", parameters=hidden * block.latent_width, tensors=2)
    yield Piece(part="router", parameters=hidden * block.count + block.count)
    if block.shared_width:
        shared = hidden * block.shared_width / tensor_parallel
        yield Piece(part="shared_experts", parameters=up * shared)
        yield Piece(part="shared_experts", parameters=shared)
    if block.shared_gate:
        yield Piece(part="router", parameters=hidden)


def stage_pieces(
    model: Model,
    stage: Stage,
    tensor_parallel: int,
    padding: Padding | None = None,
) -> Iterator[Piece]:
    """Every piece that one rank of a stage holds; `padding` where a kernel rounds experts up."""
    hidden = model.hidden_size
    for kind, layers in stage.mixers:
        yield from _mixer(kind, layers, hidden, tensor_parallel)
    if model.feed_forward:
        yield from _times(stage.dense, dense_pieces(model.feed_forward, hidden, tensor_parallel))
    if model.experts:
        pieces = expert_pieces(model.experts, hidden, tensor_parallel, padding or Padding())
        yield from _times(stage.expert, pieces)
    blocks = max(stage.layers, stage.dense + stage.expert)
    yield Piece(part="norms", parameters=hidden, tensors=model.norms_per_layer * blocks + 1, matrix=False)
    embedding = model.vocab_size * hidden / tensor_parallel
    if stage.first or (stage.last and model.tie_word_embeddings):
        yield Piece(part="embedding", parameters=embedding)
    if stage.last and not model.tie_word_embeddings:
        yield Piece(part="lm_head", parameters=embedding)
    if model.other_parameters and stage.first:
        yield Piece(part="embedding", parameters=model.other_parameters / tensor_parallel, matrix=False)
    if model.vision and stage.first:
        split = 1 if model.vision.replicated else tensor_parallel
        yield Piece(part="vision", parameters=model.vision.parameters / split)


def _mixer(kind: Mixer, layers: int, hidden: int, tensor_parallel: int) -> Iterator[Piece]:
    """The pieces of `layers` layers; those that read another layer's cache have no keys and values of their own."""
    own = layers
    if isinstance(kind, GroupedHeads) and kind.kv_layers is not None:
        own = round(layers * kind.kv_layers / kind.layers)
        yield from _times(layers - own, mixer_pieces(replace(kind, kv_heads=0), hidden, tensor_parallel))
    yield from _times(own, mixer_pieces(kind, hidden, tensor_parallel))


def _times(layers: int, pieces: Iterator[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield replace(piece, tensors=piece.tensors * layers)


def _rounded(size: float, multiple: int) -> float:
    return size if multiple == 1 else -(-size // multiple) * multiple
