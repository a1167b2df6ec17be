"""The engine's limits as it would resolve them: given, or its defaults for the card and the release."""

from __future__ import annotations

from chartgen.catalog.gpus import Gpu
from chartgen.catalog.models import Model
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, asked, fact, worked_out
from chartgen.kernel.units import GIB, context
from chartgen.memory.engine import Behaviour


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits that memory follows from, each with its reason."""

    max_model_len: Decision[int]
    """Longest request, in tokens."""
    max_num_seqs: Decision[int]
    """Sequences in a batch."""
    max_num_batched_tokens: Decision[int]
    """Tokens in a batch."""
    gpu_memory_utilization: Decision[float]
    """Share of the card's memory that the engine takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was asked for; None leaves it to the engine."""

    max_model_len: int | None = None
    """`--max-model-len`."""
    max_num_seqs: int | None = None
    """`--max-num-seqs`."""
    max_num_batched_tokens: int | None = None
    """`--max-num-batched-tokens`."""
    gpu_memory_utilization: float | None = None
    """`--gpu-memory-utilization`."""


def resolve(given: Given, model: Model, gpu: Gpu, visible: float, engine: Behaviour) -> Limits:
    """The limits in force for a card (or slice) with `visible` bytes."""
    tier = next(
        tier
        for tier in engine.batch_limits.tiers
        if visible >= tier.least_gib * GIB and not any(name in gpu.key for name in tier.except_cards)
    )
    length = _length(given.max_model_len, model)
    kind = f"{gpu.title} with {visible / GIB:.1f} GiB under vLLM {engine.release}"
    tokens: Decision[int]
    seqs: Decision[int]
    if given.max_num_batched_tokens is None and _whole_prompts(length.value, engine):
        because = f"vLLM {engine.release} runs a prompt of up to {length.value} tokens at once"
        tokens = worked_out(max(tier.tokens, length.value), because)
    elif given.max_num_batched_tokens is None:
        cap = (given.max_num_seqs or tier.seqs) * length.value
        tokens = worked_out(min(tier.tokens, cap), f"the engine's default of {tier.tokens} for {kind}")
    else:
        tokens = asked(given.max_num_batched_tokens, "as given")
    if given.max_num_seqs is None:
        seqs = worked_out(min(tier.seqs, tokens.value), f"the engine's default of {tier.seqs} for {kind}")
    else:
        seqs = asked(given.max_num_seqs, "as given")
    if given.gpu_memory_utilization is None:
        share = fact(engine.memory_share.value, f"the default of vLLM {engine.release}")
    else:
        share = asked(given.gpu_memory_utilization, "as given")
    return Limits(
        max_model_len=length,
        max_num_seqs=seqs,
        max_num_batched_tokens=tokens,
        gpu_memory_utilization=share,
    )


def _whole_prompts(length: int, engine: Behaviour) -> bool:
    return bool(engine.first_engine.value) and length <= engine.whole_prompt.value


def _length(given: int | None, model: Model) -> Decision[int]:
    if given is not None:
        return asked(given, "as given")
    longest = model.max_position_embeddings
    return fact(longest, f"the longest that {model.id} is made for: {context(longest)}")
