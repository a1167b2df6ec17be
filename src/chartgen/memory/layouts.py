"""Layouts: which tensor parallel sizes a model allows, and the smallest that carries what is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from chartgen.catalog.gpus import Gpu
from chartgen.catalog.models import Model
from chartgen.catalog.quantizations import quantization
from chartgen.kernel.errors import Attempt, Infeasible
from chartgen.kernel.units import Tokens, context, gib
from chartgen.memory.batching import Need, batched
from chartgen.memory.fit import Deployment, Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A deployment that carries what is asked, and the smaller ones that do not."""

    fit: Fit
    """Its memory, with the batch limits that were chosen for it."""
    tried: tuple[Attempt, ...]
    """Smaller layouts, and why each fell."""


def attention_heads(model: Model) -> tuple[int, ...]:
    """Query heads of every kind of layer that splits by heads."""
    return tuple(heads for kind in model.attention.kinds() if (heads := getattr(kind, "heads", 0)))


def obstacle(model: Model, scheme: str, size: int) -> str | None:
    """Why a tensor parallel size is impossible for a model; None when it is possible."""
    for heads in attention_heads(model):
        if heads % size:
            return f"{heads} attention heads do not divide by {size}"
    group = quantization(scheme).group
    if group and scheme.endswith("block"):
        side = int(group**0.5)
        for width in _split_widths(model):
            if width % (size * side):
                return f"a width of {width} over {size} GPUs is no multiple of the {side} x {side} blocks of {scheme}"
    return None


def _split_widths(model: Model) -> Iterator[int]:
    """Widths that tensor parallel splits in blocks."""
    if model.experts is not None:
        yield model.experts.width
    if model.feed_forward is not None:
        yield model.feed_forward.width


def runs(card: Gpu, scheme: str) -> bool:
    """Whether a card can run a quantization scheme at all."""
    wanted = quantization(scheme)
    if card.vendor == "amd":
        return card.architecture in wanted.amd
    if wanted.nvidia is None:
        return False
    major, minor = wanted.nvidia.split(".")
    return card.capability >= (int(major), int(minor))


def legal_sizes(model: Model, scheme: str, most: int) -> list[int]:
    """The tensor parallel sizes up to `most` that the model allows: powers of two, as nodes are built."""
    sizes = (1 << power for power in range(most.bit_length()))
    return [size for size in sizes if size <= most and obstacle(model, scheme, size) is None]


def smallest(asked: Deployment, need: Need, most: int) -> Layout:
    """The fewest GPUs, up to `most` on one node, that carry `need`.

    Raises:
        Infeasible: no size does; carries every attempt and the nearest thing that fits.
    """
    tried: list[Attempt] = []
    scheme = asked.quantization or asked.model.checkpoint.scheme
    for size in (1 << power for power in range(most.bit_length())):
        because = obstacle(asked.model, scheme, size)
        if because is None:
            fit = batched(replace(asked, tensor_parallel=size), need)
            because = shortage(fit, need)
            if because is None:
                return Layout(fit=fit, tried=tuple(tried))
        tried.append(Attempt(option=f"{size} x {asked.gpu.title}", because=because))
    subject = f"{asked.model.id} on up to {most} x {asked.gpu.title}, context {context(need.longest)}"
    raise Infeasible(subject=subject, missing=tried[-1].because, tried=tried, nearest=nearest(asked, need, most))


def shortage(fit: Fit, need: Need) -> str | None:
    """Why a fit does not carry a need; None when it does."""
    if fit.verdict == "no":
        return fit.because
    held = fit.requests(need.longest)
    if held < need.full_length:
        lack = fit.kv_bytes_per_request(need.longest) * need.full_length - fit.deciding_rank.kv_cache.best
        return (
            f"{gib(max(lack, 0))} short: {gib(fit.deciding_rank.kv_cache.best)} of KV cache hold {held} requests of "
            f"{context(need.longest)} tokens, {need.full_length} are wanted"
        )
    return None


def nearest(asked: Deployment, need: Need, most: int) -> str | None:
    """The change that costs the user least and fits: other precision, shorter context, another card."""
    from chartgen.catalog.gpus import gpus  # noqa: PLC0415 - all cards are read only when nothing fits

    scheme = asked.quantization or asked.model.checkpoint.scheme
    if scheme == "none":
        found = _first(replace(asked, quantization="fp8"), need, most) if runs(asked.gpu, "fp8") else None
        if found is not None:
            return f"weights.quantization: fp8 on {found.deployment.tensor_parallel} x {asked.gpu.title}"
    length = need.longest // 2
    while length >= need.typical:
        shorter = replace(need, longest=Tokens(length))
        found = _first(replace(asked, max_model_len=length), shorter, most)
        if found is not None:
            return f"context: {context(length)} on {found.deployment.tensor_parallel} x {asked.gpu.title}"
        length //= 2
    others = [card for card in gpus() if card.vendor == asked.gpu.vendor and card.key != asked.gpu.key]
    for card in sorted(others, key=lambda one: one.visible_bytes("best")):
        if card.visible_bytes("best") > asked.gpu.visible_bytes("best"):
            found = _first(replace(asked, gpu=card), need, most)
            if found is not None:
                return f"gpu: {card.title}, {found.deployment.tensor_parallel} of them"
    return None


def _first(asked: Deployment, need: Need, most: int) -> Fit | None:
    scheme = asked.quantization or asked.model.checkpoint.scheme
    for size in legal_sizes(asked.model, scheme, most):
        fit = batched(replace(asked, tensor_parallel=size), need)
        if shortage(fit, need) is None:
            return fit
    return None
