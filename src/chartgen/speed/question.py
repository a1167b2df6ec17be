"""What is asked: a model on cards, the traffic of one replica, the objectives, and what the user measured."""

from __future__ import annotations

from chartgen.catalog.gpus import Gpu
from chartgen.catalog.models import Model
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import Bytes, Seconds
from chartgen.memory.fit import Fit


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedQuestion:
    """One replica of a model under steady traffic. None leaves a choice to the engine."""

    model: Model
    """The model."""
    gpu: Gpu
    """The card; every rank has one, or one slice of one."""
    prompt_tokens: int
    """Tokens of a prompt: the mean of the traffic, not its longest. Cached prefixes do not count."""
    answer_tokens: int
    """Tokens of an answer: the mean of the traffic."""
    concurrency: float = 1
    """Requests in flight on the replica: a finished one is replaced at once."""
    scheme: str | None = None
    """Quantization scheme of the weights; None: as the checkpoint is stored."""
    tensor_parallel: int = 1
    """Cards that share every layer."""
    pipeline_parallel: int = 1
    """Groups of cards that share the layers among them."""
    expert_parallel: bool = False
    """Experts are placed whole on ranks rather than split."""
    kv_dtype: str = "auto"
    """`--kv-cache-dtype`."""
    kv_pool_bytes: Bytes | None = None
    """KV cache pool of one rank; None: not known, then no cliff is foreseen."""
    release: str | None = None
    """Release of the engine; None: the newest catalogued."""
    max_num_seqs: int | None = None
    """`--max-num-seqs`."""
    max_num_batched_tokens: int | None = None
    """`--max-num-batched-tokens`."""
    mig: str | None = None
    """MIG profile when each rank has a slice rather than a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objectives:
    """How fast it has to feel, on the mean of requests. None: no objective."""

    time_to_first_token: Seconds | None = None
    """Longest wait for the first token."""
    inter_token_latency: Seconds | None = None
    """Longest gap between tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What the user measured on one replica of exactly this deployment: it wins over the estimate."""

    requests_per_second: float | None = None
    """Requests a second that one replica served inside the objectives."""
    time_to_first_token: Seconds | None = None
    """Mean time to first token at the concurrency of the question."""
    inter_token_latency: Seconds | None = None
    """Mean inter-token latency at the concurrency of the question."""


def question_of(
    fit: Fit, *, prompt_tokens: int, answer_tokens: int, concurrency: float = 1, expert_parallel: bool = False
) -> SpeedQuestion:
    """The question about a deployment whose memory is worked out: its flags, and the pool it leaves."""
    asked = fit.deployment
    return SpeedQuestion(
        model=asked.model,
        gpu=asked.gpu,
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
        concurrency=concurrency,
        scheme=asked.quantization,
        tensor_parallel=asked.tensor_parallel,
        pipeline_parallel=asked.pipeline_parallel,
        expert_parallel=expert_parallel,
        kv_dtype=asked.kv_cache_dtype,
        kv_pool_bytes=Bytes(max(0, int(fit.deciding_rank.kv_cache.best))),
        release=asked.release,
        max_num_seqs=fit.limits.max_num_seqs.value,
        max_num_batched_tokens=fit.limits.max_num_batched_tokens.value,
        mig=asked.mig,
    )
