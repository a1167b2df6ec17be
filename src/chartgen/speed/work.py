"""The work of one step on one rank: bytes to read, products to compute, messages to exchange.

Shapes come from `chartgen.memory`, so speed and memory can never disagree about what a rank holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from chartgen.catalog.kv_dtypes import kv_dtype
from chartgen.catalog.model_attention import ChunkedLocal as Chunked
from chartgen.catalog.model_attention import (
    GroupedHeads,
    LatentAttention,
    Mixer,
    SlidingWindow,
)
from chartgen.catalog.models import Model
from chartgen.catalog.quantizations import Quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.memory.cache_layers import CacheChoice, layers_of
from chartgen.memory.parts import Piece, stage_pieces
from chartgen.memory.stages import Stage, stages
from chartgen.memory.weights import BYTES, scheme_of, scheme_of_part

OPERATIONS: Final = 2
"""A multiplication and an addition for each weight and token."""
_LOOKED_UP: Final = frozenset({"embedding", "vision"})
"""Parts that a step of text does not multiply with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A model as it is cut over ranks: what decides the work of a rank."""

    model: Model
    """The model."""
    scheme: str | None
    """Quantization scheme; None: as the checkpoint is stored."""
    tensor_parallel: int
    """Cards that share every layer."""
    pipeline_parallel: int
    """Groups of cards that share the layers."""
    kv_dtype: str
    """Element type of the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Products:
    """Weight matrices that are read and multiplied alike."""

    weight_bytes: float
    """Bytes of all of them."""
    parameters: float
    """Weights that one token is multiplied with."""
    scheme: Quantization | None
    """How they are stored; None: in the model's dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """What one sequence reads of its cache in one step, by layers that read alike."""

    token_bytes: float
    """Bytes of one token over these layers."""
    span: int | None
    """The most tokens they look back; None: all."""
    state_bytes: float
    """Bytes of states, read and written once a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Attention of a prompt over what stands before it, by layers that look alike."""

    operations: float
    """Operations of one token for each token it looks at."""
    span: int | None
    """The most tokens they look back; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One rank of one pipeline stage."""

    every_token: tuple[Products, ...]
    """Matrices of all tokens: attention, dense feed-forward, shared experts, routers."""
    experts: tuple[Products, ...]
    """All routed experts of the rank; the parameters are those of the experts that one token takes."""
    routed_share: float
    """Share of the routed experts that one token takes."""
    routed_copies: float
    """Hidden states of one token that go to experts, over all blocks: experts a token x blocks."""
    head: tuple[Products, ...]
    """The output head: multiplied only for tokens that a next one follows."""
    reads: tuple[Reads, ...]
    """Cache reads of one sequence."""
    uncounted: tuple[str, ...]
    """Kinds of layer whose cache is not worked out and not among the reads."""
    scores: tuple[Scores, ...]
    """Attention of a prompt."""
    blocks: int
    """Blocks: attention, state or feed-forward, each behind its own norm and all-reduce."""
    expert_blocks: int
    """Those with experts."""
    hidden_bytes: float
    """Bytes of the hidden state of one token."""
    tensor_parallel: int
    """Ranks of its stage."""

    def schemes(self) -> Iterator[Quantization]:
        """How its quantized weights are stored."""
        for each in (*self.every_token, *self.experts, *self.head):
            if each.scheme:
                yield each.scheme


@lru_cache(maxsize=1024)
def work_of(layout: Layout) -> tuple[Work, ...]:
    """The work of one rank of every pipeline stage.

    Raises:
        UnknownName: a quantization or a cache dtype that nobody knows.
        NotImplementedError: the model has a kind of layer whose weights are not worked out.
    """
    return tuple(_stage_work(layout, stage) for stage in stages(layout.model, layout.pipeline_parallel))


def _stage_work(layout: Layout, stage: Stage) -> Work:
    model, tp = layout.model, layout.tensor_parallel
    scheme = scheme_of(model, layout.scheme)
    pieces = list(stage_pieces(model, stage, tp))
    routed = [piece for piece in pieces if piece.part == "experts"]
    head_part = "embedding" if model.tie_word_embeddings else "lm_head"
    heads = [piece for piece in pieces if piece.part == head_part and piece.matrix] if stage.last else []
    dense = [piece for piece in pieces if piece.part not in {*_LOOKED_UP, "experts", "lm_head"}]
    share = model.experts.per_token / model.experts.count if model.experts else 0.0
    return Work(
        every_token=_products(dense, model, scheme),
        experts=_products(routed, model, scheme, share),
        routed_share=share,
        routed_copies=model.experts.per_token * stage.expert if model.experts else 0,
        head=_products(heads, model, scheme),
        reads=tuple(_reads(layout, stage)),
        uncounted=tuple(dict.fromkeys(_uncounted(layout, stage))),
        scores=tuple(score for kind, count in stage.mixers if count for score in _scores(kind, count, tp)),
        blocks=stage.layers + stage.dense + stage.expert,
        expert_blocks=stage.expert,
        hidden_bytes=model.hidden_size * BYTES[model.dtype],
        tensor_parallel=tp,
    )


def _products(pieces: list[Piece], model: Model, scheme: Quantization, share: float = 1) -> tuple[Products, ...]:
    """The pieces as products, one for each way that weights are stored; a token takes a share of them."""
    stored: dict[Quantization | None, list[Piece]] = {}
    for piece in pieces:
        stored.setdefault(scheme_of_part(model, scheme, piece) if piece.matrix else None, []).append(piece)
    plain = BYTES[model.dtype]
    return tuple(
        Products(
            weight_bytes=sum(map(_parameters, alike)) * (own.bytes_per_weight if own else plain),
            parameters=share * sum(_parameters(piece) for piece in alike if piece.matrix),
            scheme=own,
        )
        for own, alike in stored.items()
    )


def _parameters(piece: Piece) -> float:
    return piece.parameters * piece.tensors


def _choice(layout: Layout) -> CacheChoice:
    """The cache token by token: blocks matter for what is held, not for what is read."""
    return CacheChoice(
        dtype=kv_dtype(layout.kv_dtype),
        model_bytes=BYTES[layout.model.dtype],
        tensor_parallel=layout.tensor_parallel,
        block=1,
        latent_block=1,
    )


def _uncounted(layout: Layout, stage: Stage) -> Iterator[str]:
    """Kinds of layer whose cache is not worked out."""
    choice = _choice(layout)
    for kind, count in stage.mixers:
        try:
            next(layers_of(kind, count, choice), None)
        except NotImplementedError:
            yield type(kind).__name__


def _reads(layout: Layout, stage: Stage) -> Iterator[Reads]:
    choice = _choice(layout)
    uncounted = set(_uncounted(layout, stage))
    for kind, count in stage.mixers:
        if not count or type(kind).__name__ in uncounted:
            continue
        for place, entry in enumerate(layers_of(kind, count, choice)):
            span = entry.span if entry.reach in {"window", "chunk"} else None
            if isinstance(kind, LatentAttention) and kind.indexer and place == 0:
                span = kind.indexer.top_k  # sparse attention reads the latents of the tokens it picked
            yield Reads(
                token_bytes=entry.layers * entry.token_bytes,
                span=span,
                state_bytes=2 * entry.layers * entry.state_bytes,
            )


def _scores(kind: Mixer, count: int, tensor_parallel: int) -> Iterator[Scores]:
    """Operations of scores and values; a state costs a fixed amount a token and is left to the margin."""
    if isinstance(kind, GroupedHeads):
        width = kind.head_size + (kind.value_head_size or kind.head_size)
        span = kind.window if isinstance(kind, SlidingWindow) else kind.chunk if isinstance(kind, Chunked) else None
        yield Scores(operations=OPERATIONS * count * kind.heads / tensor_parallel * width, span=span)
    elif isinstance(kind, LatentAttention):
        width = kind.nope_head_size + kind.rope_head_size + kind.value_head_size
        picked = kind.indexer.top_k if kind.indexer else None
        yield Scores(operations=OPERATIONS * count * kind.heads / tensor_parallel * width, span=picked)
        if kind.indexer:
            held = count * (kind.indexer.layers or kind.layers) / kind.layers
            yield Scores(operations=OPERATIONS * held * kind.indexer.heads * kind.indexer.head_size, span=None)
