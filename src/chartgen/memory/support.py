"""What a card, a release and a model's own sizes allow: quantization schemes and tensor parallel sizes."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.gpus import Gpu
from chartgen.catalog.model_attention import CompressedAttention, GroupedHeads
from chartgen.catalog.models import Model
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.memory.release import release

VOCABULARY_STEP = 64
"""The engine pads the vocabulary to a multiple of this before it splits it (vllm, vocab_parallel_embedding.py)."""


def refusal(card: Gpu, scheme: Quantization, at: str | None = None) -> str | None:
    """Why a card, or a release, cannot run a scheme; None when it can."""
    unknown = _unknown_to(scheme, at) if at is not None else None
    if unknown is not None:
        return unknown
    if card.vendor == "amd":
        if card.compute_capability in scheme.amd:
            return None
        return f"{card.title} does not run {scheme.title}; {_listed(scheme.amd)} do"
    if scheme.nvidia is None:
        return f"{card.title} does not run {scheme.title}"
    major, minor = scheme.nvidia.split(".")
    if card.capability >= (int(major), int(minor)):
        return None
    return f"{scheme.title} needs compute capability {scheme.nvidia}, {card.title} has {card.compute_capability}"


def _unknown_to(scheme: Quantization, at: str) -> str | None:
    if release(at) < release(scheme.since):
        return f"vLLM {at} does not know {scheme.title}; it came with {scheme.since}"
    if scheme.until is not None and release(at) > release(scheme.until):
        return f"vLLM {at} no longer knows {scheme.title}; {scheme.until} was the last to know it"
    return None


def _listed(targets: tuple[str, ...]) -> str:
    return f"AMD {', '.join(targets)}" if targets else "no AMD cards"


def obstacle(model: Model, scheme: str, size: int, *, expert_parallel: bool = False) -> str | None:
    """Why a tensor parallel size is impossible for a model; None when it is possible.

    The engine divides heads, widths and the padded vocabulary without remainder. Key-value heads divide, or are
    copied a whole number of times. A quantization group never lies across two ranks.
    """
    for problem in _undivided(model, size, expert_parallel=expert_parallel):
        return problem
    for problem in _cut_groups(model, quantization(scheme), size, expert_parallel=expert_parallel):
        return problem
    return None


def _undivided(model: Model, size: int, *, expert_parallel: bool) -> Iterator[str]:
    for kind in model.attention.kinds():
        heads = 0 if isinstance(kind, CompressedAttention) else getattr(kind, "heads", 0)
        if heads % size:
            yield f"{heads} attention heads do not divide by {size}"
        if isinstance(kind, GroupedHeads) and kind.kv_heads % size and size % kind.kv_heads:
            yield f"{kind.kv_heads} key-value heads neither divide by {size} nor into it"
        for name in ("key_heads", "value_heads"):
            if getattr(kind, name, 0) % size:
                yield f"{getattr(kind, name)} {name.replace('_', ' ')} of linear attention do not divide by {size}"
    vocabulary = -(-model.vocab_size // VOCABULARY_STEP) * VOCABULARY_STEP
    if vocabulary % size:
        yield f"a vocabulary of {model.vocab_size}, padded to {vocabulary}, does not divide by {size}"
    if model.experts and expert_parallel and model.experts.count % size:
        yield f"{model.experts.count} experts do not divide by {size}"
    for name, width in _widths(model, expert_parallel=expert_parallel):
        if width % size:
            yield f"a width of {width} ({name}) does not divide by {size}"


def _widths(model: Model, *, expert_parallel: bool) -> Iterator[tuple[str, int]]:
    """Widths that tensor parallel splits; expert parallel keeps experts whole."""
    if model.feed_forward is not None and model.feed_forward.layers:
        yield "feed-forward", model.feed_forward.width
    if model.experts is not None:
        if not expert_parallel:
            yield "experts", model.experts.width
        if model.experts.shared_width:
            yield "shared experts", model.experts.shared_width


def _cut_groups(model: Model, scheme: Quantization, size: int, *, expert_parallel: bool) -> Iterator[str]:
    if size == 1 or scheme.group is None or scheme.padded:
        return
    side = round(scheme.group**0.5) if scheme.square else scheme.group
    kept = set(scheme.kept)
    for name, width in _widths(model, expert_parallel=expert_parallel):
        part = name.replace("-", "_").replace(" ", "_")
        if part not in kept and width // size % side:
            yield (
                f"a width of {width} ({name}) over {size} GPUs is {width // size} each, "
                f"which cuts the groups of {side} of {scheme.title}"
            )


def sizes(most: int) -> list[int]:
    """Tensor parallel sizes up to `most`: powers of two, as nodes are built."""
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most]


def legal_sizes(model: Model, scheme: str, most: int) -> list[int]:
    """The tensor parallel sizes up to `most` that the model and the scheme allow."""
    return [size for size in sizes(most) if obstacle(model, scheme, size) is None]
