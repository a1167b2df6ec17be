"""The seconds of one engine step: a roofline over the work of a rank, and what each part takes.

Kernels run one after another, so their times add up; within a product, reading weights and computing
overlap, so the longer of the two counts.
"""

from __future__ import annotations

from math import log2

from chartgen.kernel.dataclass import dataclass
from chartgen.speed.card import MICRO, Card
from chartgen.speed.efficiencies import Rates
from chartgen.speed.work import OPERATIONS, Products, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one step works on."""

    sequences: float
    """Sequences that get their next token."""
    context: float
    """Tokens that stand before them, on average."""
    prompt: float = 0
    """Prompt tokens beside them: one chunk of a prompt."""
    before: float = 0
    """Tokens of that prompt that stand before the chunk, on average."""

    @property
    def tokens(self) -> float:
        """All tokens of the step."""
        return self.sequences + self.prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Seconds of one step by what takes them."""

    products: float
    """Weights read, or matrices multiplied where that takes longer."""
    cache: float
    """The KV cache and states read."""
    attention: float
    """Attention of the prompt chunk."""
    messages: float
    """All-reduces among ranks."""
    overhead: float
    """All else: launches, elementwise work, scheduling."""

    @property
    def seconds(self) -> float:
        """The whole step."""
        return self.products + self.cache + self.attention + self.messages + self.overhead


def step(works: tuple[Work, ...], card: Card, batch: Batch, rates: Rates) -> Step:
    """One pass through every pipeline stage."""
    parts = [_stage(work, card, batch, rates) for work in works]
    if len(parts) == 1:
        return parts[0]
    return Step(
        products=sum(part.products for part in parts),
        cache=sum(part.cache for part in parts),
        attention=sum(part.attention for part in parts),
        messages=sum(part.messages for part in parts),
        overhead=sum(part.overhead for part in parts),
    )


def _stage(work: Work, card: Card, batch: Batch, rates: Rates) -> Step:
    tokens = batch.tokens
    followed = batch.sequences + (1 if batch.prompt else 0)
    touched = 1 - (1 - work.routed_share) ** tokens
    products = sum(_seconds(each, card, tokens) for each in work.every_token)
    products += sum(_seconds(each, card, followed) for each in work.head)
    products += sum(_seconds(each, card, tokens, touched) for each in work.experts)
    passes = work.blocks * rates.block_passes + work.routed_copies * rates.expert_passes
    fixed = work.blocks * rates.block_overhead + work.expert_blocks * rates.expert_overhead
    moved = tokens * work.hidden_bytes * passes / card.memory
    return Step(
        products=products,
        cache=batch.sequences * cache_bytes(work, batch.context) / card.cache,
        attention=_attention(work, batch) / card.attention,
        messages=_messages(work, card, tokens),
        overhead=moved + (fixed + batch.sequences * rates.sequence_overhead) * MICRO,
    )


def _seconds(each: Products, card: Card, tokens: float, touched: float = 1) -> float:
    """Reading the weights that tokens touch, or multiplying with them: the longer."""
    compute = card.products[each.scheme.key] if each.scheme else card.plain
    return max(each.weight_bytes * touched / card.weights, OPERATIONS * each.parameters * tokens / compute)


def cache_bytes(work: Work, context: float) -> float:
    """Bytes of cache that one sequence with so many tokens reads in a step."""
    return sum(
        each.token_bytes * (context if each.span is None else min(context, each.span)) + each.state_bytes
        for each in work.reads
    )


def _attention(work: Work, batch: Batch) -> float:
    """Operations of a chunk: each token looks at those before the chunk, and at half of the chunk."""
    looked = batch.before + batch.prompt / 2
    return batch.prompt * sum(
        each.operations * (looked if each.span is None else min(looked, each.span)) for each in work.scores
    )


def _messages(work: Work, card: Card, tokens: float) -> float:
    """One all-reduce of every token's hidden state a block."""
    ranks = work.tensor_parallel
    if ranks == 1:
        return 0.0
    moved = 2 * (ranks - 1) / ranks * tokens * work.hidden_bytes
    return work.blocks * (card.latency * log2(ranks) + moved / card.link)
