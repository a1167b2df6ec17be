"""Runs that queue: how many requests they ran at once, and how many the memory model says the pool holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from chartgen.kernel.units import Bytes
from chartgen.memory.fit import Deployment, estimate
from chartgen.speed import SpeedQuestion, predict
from speedfit.cases import Case

UTILIZATION: Final = 0.9
"""`--gpu-memory-utilization` of the public serving scripts behind the runs."""
ROOM: Final = 256
"""Tokens that those scripts allow beyond prompt and answer."""
UNSTATED: Final = "0.11.0"
"""The release of runs that state none: those of October 2025."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cliff:
    """One run beyond the cliff."""

    case: Case
    """The run."""
    worked_out: float
    """Requests that the pool holds."""
    measured: float
    """Requests that ran at once."""
    first: float
    """Predicted time to first token, in seconds."""

    @property
    def factor(self) -> float:
        """How far the two are apart, 1 or more."""
        return max(self.worked_out / self.measured, self.measured / self.worked_out)


def cliffs(cases: Iterable[Case]) -> Iterator[Cliff]:
    """The cliffs among these runs, with the pool from the memory model."""
    for case in cases:
        running = case.running
        if case.use == "cliff" and running is not None:
            found = predict(with_pool(case.question))
            assert found.cliff_concurrency is not None  # noqa: S101 - a pool is given
            yield Cliff(
                case=case,
                worked_out=found.cliff_concurrency,
                measured=running,
                first=found.time_to_first_token.best,
            )


def with_pool(question: SpeedQuestion) -> SpeedQuestion:
    """The question with the pool that the memory model finds for the flags of the public scripts."""
    fit = estimate(
        Deployment(
            model=question.model,
            gpu=question.gpu,
            release=question.release or UNSTATED,
            quantization=question.scheme,
            kv_cache_dtype=question.kv_dtype,
            tensor_parallel=question.tensor_parallel,
            max_model_len=question.prompt_tokens + question.answer_tokens + ROOM,
            max_num_seqs=int(question.concurrency),
            gpu_memory_utilization=UTILIZATION,
        )
    )
    pool = Bytes(max(0, int(fit.deciding_rank.kv_cache.best)))
    return replace(question, kv_pool_bytes=pool, max_num_seqs=int(question.concurrency))
