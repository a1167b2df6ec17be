"""Layouts: the fewest GPUs that carry what is asked, and why fewer do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chartgen.catalog.gpus import Gpu
from chartgen.catalog.quantizations import quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import Attempt, Infeasible
from chartgen.kernel.units import context, gib
from chartgen.memory.batching import Need, batched, cautious
from chartgen.memory.fit import Deployment, Fit
from chartgen.memory.support import legal_sizes, obstacle, refusal, sizes

__all__ = ["Layout", "Need", "arrangements", "legal_sizes", "runs", "shortage", "smallest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A deployment that carries what is asked, and the smaller ones that do not."""

    fit: Fit
    """Its memory, with the batch limits that were chosen for it."""
    tried: tuple[Attempt, ...]
    """Smaller layouts, and why each fell."""


def runs(card: Gpu, scheme: str) -> bool:
    """Whether a card can run a quantization scheme at all."""
    return refusal(card, quantization(scheme)) is None


def arrangements(asked: Deployment, most: int, nodes: int | None = None) -> Iterator[Deployment | Attempt]:
    """Every way to spread the model, fewest GPUs first: over powers of two up to `most`, a node.

    A tensor parallel size that the model forbids is an Attempt with its reason; experts whose width cannot be
    split but whose number can are spread whole (expert parallel). With `nodes`, pipeline stages take over where
    tensor parallel is forbidden, and reach over that many nodes.
    """
    scheme = asked.quantization or asked.model.checkpoint.scheme
    widest = asked
    for size in sizes(most):
        because = obstacle(asked.model, scheme, size)
        whole = asked.model.experts is not None and because is not None
        if because is None:
            widest = replace(asked, tensor_parallel=size, expert_parallel=False)
            yield widest
        elif whole and obstacle(asked.model, scheme, size, expert_parallel=True) is None:
            widest = replace(asked, tensor_parallel=size, expert_parallel=True)
            yield widest
        else:
            yield Attempt(option=f"{size} x {asked.gpu.title}", because=because)
            if nodes:
                yield replace(widest, pipeline_parallel=size // widest.tensor_parallel)
    for count in range(2, (nodes or 1) + 1):
        yield replace(widest, pipeline_parallel=count * most // widest.tensor_parallel)


def smallest(asked: Deployment, need: Need, most: int, *, nodes: int | None = None) -> Layout:
    """The fewest GPUs that carry `need`: up to `most` on one node, or with pipeline stages over up to `nodes`.

    Raises:
        Infeasible: no layout does; carries every attempt and the nearest thing that fits.
    """
    tried: list[Attempt] = []
    for option in arrangements(asked, most, nodes):
        if isinstance(option, Attempt):
            tried.append(option)
            continue
        because = shortage(cautious(option, need), need)
        if because is None:
            return Layout(fit=batched(option, need), tried=tuple(tried))
        tried.append(Attempt(option=spoken(option), because=because))
    subject = f"{asked.model.id} on up to {most * (nodes or 1)} x {asked.gpu.title}, context {context(need.longest)}"
    raise Infeasible(subject=subject, missing=tried[-1].because, tried=tried, nearest=nearest(asked, need, most))


def spoken(option: Deployment) -> str:
    """A layout in words: 16 x NVIDIA H100 SXM 80 GB in 2 pipeline stages, 1 x 3g.40gb slice of it."""
    stages = f" in {option.pipeline_parallel} pipeline stages" if option.pipeline_parallel > 1 else ""
    card = option.gpu.title if option.mig is None else f"{option.mig} slice of {option.gpu.title}"
    return f"{option.gpus} x {card}{stages}"


def shortage(fit: Fit, need: Need) -> str | None:
    """Why a fit does not carry a need; None when it does."""
    if fit.verdict == "no":
        return fit.because
    held = fit.requests(need.longest)
    if held < need.full_length:
        pool = fit.deciding_rank.kv_cache.best
        lack = fit.kv_bytes_per_request(need.longest) * need.full_length - pool
        return (
            f"{gib(max(lack, 0))} short: {gib(pool)} of KV cache hold {held} requests of "
            f"{context(need.longest)} tokens, {need.full_length} are wanted"
        )
    return None


def nearest(asked: Deployment, need: Need, most: int) -> str | None:
    """The change that costs the user least and fits: other precision, shorter context, another card."""
    from chartgen.memory.levers import for_need  # noqa: PLC0415 - levers search layouts in their turn

    return next((lever.change for lever in for_need(asked, need, most)), None)


def first(asked: Deployment, need: Need, most: int) -> Fit | None:
    """The smallest layout on one node that carries a need; None when none does."""
    for option in arrangements(asked, most):
        if isinstance(option, Deployment):
            fit = cautious(option, need)
            if shortage(fit, need) is None:
                return fit
    return None
