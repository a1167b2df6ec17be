"""What the memory model answers, as text for a terminal and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from chartgen.kernel.units import GIB, context, gib
from chartgen.memory.answer import Answer
from chartgen.memory.figures import Estimate, weakest
from chartgen.memory.fit import Fit, Rank
from chartgen.memory.layouts import spoken
from chartgen.report import bars

TERMS: Final = ("weights", "activation", "non_torch", "cuda_graph", "kv_cache")
"""The terms of a rank, in the order they are shown."""


def data(answer: Answer) -> dict[str, Any]:
    """The answer as plain data: amounts in GiB on the GPU with the least room, and each stage's beside them."""
    fit = answer.fit
    deployment, limits = fit.deployment, fit.limits
    return {
        "model": deployment.model.id,
        "gpu": deployment.gpu.title,
        "mig": deployment.mig,
        "engine": deployment.release,
        "tensor_parallel_size": deployment.tensor_parallel,
        "pipeline_parallel_size": deployment.pipeline_parallel,
        "expert_parallel": deployment.expert_parallel,
        "gpus": deployment.gpus,
        "quantization": deployment.quantization,
        "kv_cache_dtype": deployment.kv_cache_dtype,
        "max_model_len": limits.max_model_len.value,
        "max_num_seqs": limits.max_num_seqs.value,
        "max_num_batched_tokens": limits.max_num_batched_tokens.value,
        "gpu_memory_utilization": limits.gpu_memory_utilization.value,
        **_rank(fit.deciding_rank),
        "kv_cache_tokens": fit.kv_cache_tokens,
        "max_concurrency": round(fit.max_concurrency, 4),
        "longest_request": fit.longest,
        "verdict": fit.verdict,
        "deciding": fit.deciding,
        "because": fit.because,
        "stands_on": weakest(getattr(fit.deciding_rank, name).stands_on for name in TERMS),
        "ranks": memory(fit),
        "levers": [
            {"change": lever.change, "kv_cache_gib": _gib(lever.fit.deciding_rank.kv_cache.best)}
            for lever in answer.levers
        ],
        "notes": list(answer.asked.notes),
    }


def memory(fit: Fit) -> list[dict[str, Any]]:
    """The memory of one GPU of each pipeline stage, in GiB."""
    return [{"stage": rank.stage, **_rank(rank)} for rank in fit.ranks]


def _rank(rank: Rank) -> dict[str, Any]:
    return {f"{name}_gib": _estimate(getattr(rank, name)) for name in (*TERMS, "budget")}


def _estimate(figure: Estimate) -> dict[str, Any]:
    amounts = {name: _gib(getattr(figure, name)) for name in ("low", "best", "high")}
    return {**amounts, "stands_on": figure.stands_on, "because": figure.because}


def _gib(amount: float) -> float:
    return round(amount / GIB, 4)


def text(answer: Answer) -> str:
    """The answer for a person."""
    return "\n".join(_lines(answer))


def _lines(answer: Answer) -> Iterator[str]:
    fit = answer.fit
    deployment = fit.deployment
    yield f"{deployment.model.id} on {spoken(deployment)}, vLLM {deployment.release}: {_VERDICT[fit.verdict]}"
    yield f"  {fit.because}"
    yield from bars.lines(fit)
    for name in TERMS:
        figure: Estimate = getattr(fit.deciding_rank, name)
        yield f"  {_NAMES[name].ljust(16)} {_amount(figure).ljust(34)} {figure.stands_on.ljust(9)} {figure.because}"
    yield f"  {'capacity'.ljust(16)} {_capacity(fit)}"
    for decision, flag in (
        (fit.limits.max_num_seqs, "--max-num-seqs"),
        (fit.limits.max_num_batched_tokens, "--max-num-batched-tokens"),
    ):
        yield f"  {flag} {decision.value}: {decision.because}"
    for lever in answer.levers:
        yield f"  would fit: {lever}"
    for note in answer.asked.notes:
        yield f"  note: {note}"


_VERDICT: Final = {
    "yes": "fits",
    "tight": "fits tightly: by the likely figures, not by the cautious ones",
    "no": "does not fit",
}
_NAMES: Final = {
    "weights": "weights",
    "activation": "activation",
    "non_torch": "outside PyTorch",
    "cuda_graph": "CUDA graphs",
    "kv_cache": "KV cache",
}


def _amount(figure: Estimate) -> str:
    """An amount of memory; where it is less than nothing, how much is short."""
    if figure.best >= 0:
        return str(figure)
    low, high = max(0.0, -figure.high), -figure.low
    return f"{gib(-figure.best)} short ({gib(low)} to {gib(high)})"


def _capacity(fit: Fit) -> str:
    length = fit.limits.max_model_len.value
    each = gib(fit.kv_bytes_per_request(length))
    return (
        f"{fit.kv_cache_tokens} tokens, {fit.max_concurrency:.2f} requests of {context(length)} tokens at once "
        f"({each} each, beside the pool's one empty block)"
    )
