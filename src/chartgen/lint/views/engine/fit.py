"""Whether the model fits the cards, by the engine's own memory arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from chartgen.catalog.engines import newest
from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import Model, model
from chartgen.catalog.quantizations import quantization as scheme_named
from chartgen.catalog.quantizations import quantizations
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.units import gib
from chartgen.lint.accelerators import Accelerators
from chartgen.lint.unknown import Maybe, Unknown, known
from chartgen.lint.views.engine.card import CardView
from chartgen.lint.views.engine.parallel import ParallelView
from chartgen.lint.views.engine.release import ReleaseView
from chartgen.memory.fit import Deployment, Fit, estimate

_RUN: Final = "chartgen fit MODEL --gpu CARD --context LENGTH"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitView:
    """The memory of one GPU of an engine."""

    verdict: Maybe[str]
    """yes; tight: one of the estimate's margins decides; no: not even with every margin in its favour."""
    because: Maybe[str]
    """The verdict in one sentence, with the numbers in it."""
    weights_per_gpu: Maybe[str]
    """Weights on each GPU, in words: 65.7 GiB."""
    weights_fit: Maybe[bool]
    """Whether the weights alone leave anything on the card."""
    card_memory: Maybe[str]
    """What one GPU shows, in words: 79.2 GiB."""
    longest: Maybe[int]
    """The longest context that fits."""
    requests: Maybe[float]
    """How many requests of the longest allowed length the KV cache holds at once."""


def fit_view(
    found: Model | None,
    model_known: Maybe[bool],
    card: CardView,
    gpus: Accelerators,
    parallel: ParallelView,
    release: ReleaseView,
    options: Mapping[str, Maybe[Json]],
) -> FitView:
    """The view of an engine's memory; unknown as soon as anything it rests on is."""
    rests_on: list[Maybe[Any]] = [card.key, card.bytes, parallel.tensor, parallel.pipeline]
    rests_on += [options[flag] for flag in _FLAGS]
    unknown = next((one for one in rests_on if isinstance(one, Unknown)), None)
    if isinstance(model_known, Unknown):
        unknown = model_known
    if unknown is not None or found is None:
        return _all(unknown or Unknown(because="nothing is known of the model", run=_RUN))
    try:
        fit = _estimate(
            found.id,
            str(card.key),
            known(release.version, newest()),
            known(parallel.tensor, 1),
            known(parallel.pipeline, 1),
            gpus.profile,
            tuple(_plain(options[flag]) for flag in _FLAGS),
        )
    except (LookupError, ValueError, NotImplementedError) as error:
        return _all(Unknown(because=f"the memory of {found.id} was not worked out: {error}", run=_RUN))
    rank = fit.deciding_rank
    return FitView(
        verdict=_verdict(fit),
        because=fit.because,
        weights_per_gpu=gib(rank.weights.best),
        weights_fit=rank.weights.low < rank.budget.high,
        card_memory=gib(known(card.bytes, 0)),
        longest=fit.longest,
        requests=fit.max_concurrency,
    )


def _verdict(fit: Fit) -> str:
    """A refusal is only certain when the most optimistic figures refuse too."""
    if fit.verdict != "no":
        return fit.verdict
    wanted = fit.limits.max_model_len.value
    certain = any(rank.pool.longest(rank.kv_cache.high, wanted) < wanted for rank in fit.ranks)
    return "no" if certain else "tight"


_FLAGS: Final = (
    "--quantization",
    "--dtype",
    "--kv-cache-dtype",
    "--max-model-len",
    "--max-num-seqs",
    "--max-num-batched-tokens",
    "--gpu-memory-utilization",
    "--enforce-eager",
)


@lru_cache(maxsize=512)
def _estimate(
    name: str,
    card: str,
    release: str,
    tensor: int,
    pipeline: int,
    profile: str | None,
    flags: tuple[Json, ...],
) -> Fit:
    quantization, dtype, kv_dtype, length, sequences, tokens, utilization, eager = flags
    return estimate(
        Deployment(
            model=model(name),
            gpu=gpu(card),
            release=release,
            quantization=_scheme(quantization),
            dtype=None if dtype in {None, "auto", "half"} else str(dtype),
            kv_cache_dtype=str(kv_dtype or "auto"),
            tensor_parallel=tensor,
            pipeline_parallel=pipeline,
            max_model_len=length if isinstance(length, int) and length > 0 else None,
            max_num_seqs=sequences if isinstance(sequences, int) else None,
            max_num_batched_tokens=tokens if isinstance(tokens, int) else None,
            gpu_memory_utilization=float(utilization) if isinstance(utilization, int | float) else None,
            enforce_eager=eager is True,
            mig=profile,
        )
    )


def _scheme(quantization: Json) -> str | None:
    """The scheme that the engine applies while it loads; names of checkpoint formats change nothing."""
    if not isinstance(quantization, str) or quantization not in quantizations():
        return None
    return quantization if scheme_named(quantization).at_load else None


def _plain(value: Maybe[Json]) -> Json:
    return None if isinstance(value, Unknown | dict | list) else value


def _all(unknown: Unknown) -> FitView:
    return FitView(
        verdict=unknown,
        because=unknown,
        weights_per_gpu=unknown,
        weights_fit=unknown,
        card_memory=unknown,
        longest=unknown,
        requests=unknown,
    )
