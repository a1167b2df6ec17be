"""Levers: what a user may change so that a model fits, the cheapest for the user first.

Fewer sequences cost throughput that the pool could not carry anyway; fp8 weights and an fp8 cache cost a little
quality; a shorter context costs a promise; another card, a larger slice or more GPUs cost money.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from chartgen.catalog.assumptions import whole
from chartgen.catalog.gpus import Gpu, gpus
from chartgen.catalog.kv_dtypes import kv_dtype
from chartgen.catalog.quantizations import quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import Tokens, context, gib
from chartgen.memory.batching import Need
from chartgen.memory.fit import Deployment, Fit, estimate
from chartgen.memory.layouts import first
from chartgen.memory.release import release
from chartgen.memory.support import obstacle, refusal, sizes

FP8 = "fp8"
"""The scheme and the cache dtype that the engine can make from plain 16-bit values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """One change, or several, after which the model fits."""

    change: str
    """What to change, in the user's words: --max-num-seqs 128."""
    fit: Fit
    """The memory after the change."""

    def __str__(self) -> str:
        """The change with what it leaves for the KV cache."""
        return f"{self.change}: {gib(self.fit.deciding_rank.kv_cache.best)} for the KV cache"


def levers(fit: Fit, wanted: int = 1) -> list[Lever]:
    """Every single change after which `wanted` requests of the longest length fit, the cheapest first."""
    asked = fit.deployment
    options = (
        _fewer_sequences(fit),
        _fp8_weights(asked),
        _fp8_cache(asked),
        _shorter(fit),
        _larger_slices(asked),
        _more_gpus(asked),
        _other_cards(asked),
    )
    found = []
    for changes in options:
        for words, changed in changes:
            after = estimate(changed)
            if after.verdict != "no" and after.requests(after.limits.max_model_len.value) >= wanted:
                found.append(Lever(change=words, fit=after))
                break
    return found


_Change = tuple[str, Deployment]


def _fewer_sequences(fit: Fit) -> Iterator[_Change]:
    now = fit.limits.max_num_seqs.value
    limit = 1 << (now.bit_length() - 1)
    while limit > 1:
        limit //= 2
        yield f"--max-num-seqs {limit}", replace(fit.deployment, max_num_seqs=limit)


def _fp8_weights(asked: Deployment) -> Iterator[_Change]:
    stored = asked.quantization or asked.model.checkpoint.scheme
    if stored == "none" and refusal(asked.gpu, quantization(FP8), asked.release) is None:
        yield "--quantization fp8", replace(asked, quantization=FP8)


def _fp8_cache(asked: Deployment) -> Iterator[_Change]:
    known = "fp8" in asked.gpu.dtypes and release(asked.release) >= release(kv_dtype(FP8).since)
    if asked.kv_cache_dtype == "auto" and known:
        yield "--kv-cache-dtype fp8", replace(asked, kv_cache_dtype=FP8)


def _shorter(fit: Fit) -> Iterator[_Change]:
    step = whole("shortest-context-step")
    length = min(fit.longest, fit.deployment.model.max_position_embeddings) // step * step
    if length:
        yield f"--max-model-len {length}", replace(fit.deployment, max_model_len=length)


def _larger_slices(asked: Deployment) -> Iterator[_Change]:
    if asked.mig is not None:
        now = asked.gpu.mig[asked.mig].mib
        larger = [(profile.mib, name) for name, profile in asked.gpu.mig.items() if profile.mib > now]
        for _, name in sorted(larger):
            yield f"a {name} slice of {asked.gpu.title}", replace(asked, mig=name)


def _more_gpus(asked: Deployment) -> Iterator[_Change]:
    scheme = asked.quantization or asked.model.checkpoint.scheme
    for size in sizes(max(asked.gpu.per_node)):
        if asked.mig is None and size > asked.tensor_parallel and obstacle(asked.model, scheme, size) is None:
            yield f"{size} x {asked.gpu.title}", replace(asked, tensor_parallel=size)


def _other_cards(asked: Deployment) -> Iterator[_Change]:
    scheme = quantization(asked.quantization or asked.model.checkpoint.scheme)
    for card in larger_cards(asked.gpu):
        if refusal(card, scheme, asked.release) is None and asked.gpus in card.per_node:
            yield f"{asked.gpus} x {card.title}", replace(asked, gpu=card, mig=None)


def larger_cards(card: Gpu) -> list[Gpu]:
    """Cards of the same vendor with more memory, the smallest first."""
    others = [other for other in gpus() if other.vendor == card.vendor]
    larger = [other for other in others if other.visible_bytes() > card.visible_bytes()]
    return sorted(larger, key=lambda other: (other.visible_bytes(), other.key))


def for_need(asked: Deployment, need: Need, most: int) -> Iterator[Lever]:
    """Changes after which some layout on one node carries a need, the cheapest first, in a profile's words."""

    def lever(say: Callable[[Fit], str], changed: Deployment, wanted: Need) -> Iterator[Lever]:
        found = first(changed, wanted, min(most, max(changed.gpu.per_node)))
        if found is not None:
            yield Lever(change=say(found), fit=found)

    for _, changed in _fp8_weights(asked):
        yield from lever(lambda found: f"weights.quantization: fp8 on {_on(found)}", changed, need)
    for _, changed in _fp8_cache(asked):
        yield from lever(lambda found: f"an fp8 KV cache on {_on(found)}", changed, need)
    for length in _halves(need):
        shortened = [*lever(partial(_context, length), asked, replace(need, longest=Tokens(length)))]
        yield from shortened
        if shortened:
            break
    for card in larger_cards(asked.gpu):
        if refusal(card, quantization(asked.quantization or asked.model.checkpoint.scheme)) is None:
            yield from lever(lambda found: f"gpu: {_on(found)}", replace(asked, gpu=card), need)


def _halves(need: Need) -> Iterator[int]:
    length = need.longest // 2
    while length >= need.typical:
        yield length
        length //= 2


def _on(found: Fit) -> str:
    return f"{found.deployment.gpus} x {found.deployment.gpu.title}"


def _context(length: int, found: Fit) -> str:
    return f"context: {context(length)} on {_on(found)}"
