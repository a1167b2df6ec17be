"""Does a model fit a card: the memory of every rank, the pool it leaves, and the verdict."""

from __future__ import annotations

from typing import Final, Literal

from chartgen.catalog.gpus import BLACKWELL, HOPPER, Gpu
from chartgen.catalog.kv_dtypes import kv_dtype
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import MIB, context, gib
from chartgen.memory import compressed_cache  # noqa: F401 - registers the cache of compressed attention
from chartgen.memory.activation import Batch, activation
from chartgen.memory.cache_layers import CacheChoice, cache_layers, with_aligned_states
from chartgen.memory.deployment import Deployment, visible_memory
from chartgen.memory.engine import Behaviour, behaviour
from chartgen.memory.figures import Estimate, remainder
from chartgen.memory.kv_cache import Pool, pool
from chartgen.memory.limits import Given, Limits, resolve
from chartgen.memory.overheads import cuda_graph, non_torch
from chartgen.memory.parts import Padding
from chartgen.memory.release import release
from chartgen.memory.stages import Stage, stages
from chartgen.memory.weights import BYTES, scheme_of, weights

__all__ = ["Deployment", "Fit", "Rank", "Verdict", "cache_pool", "estimate"]

Verdict = Literal["yes", "tight", "no"]
"""Fits with the margins; fits only by the likely figures; does not fit by the likely figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The memory of one rank of a pipeline stage."""

    stage: int
    """Pipeline stage, from 0."""
    budget: Estimate
    """What the engine may use: its share of the visible memory."""
    weights: Estimate
    """Weights."""
    activation: Estimate
    """Peak of the start-up profile."""
    non_torch: Estimate
    """Memory outside PyTorch: communication buffers, kernels' own."""
    cuda_graph: Estimate
    """CUDA graphs, as far as this release takes them from the budget."""
    kv_cache: Estimate
    """What is left for the KV cache; negative when the rest does not fit."""
    pool: Pool
    """How that pool is organised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The answer: memory by rank, capacity, verdict."""

    deployment: Deployment
    """What was asked."""
    limits: Limits
    """The engine's limits as resolved."""
    ranks: tuple[Rank, ...]
    """One rank of every pipeline stage."""
    kv_cache_tokens: int
    """Capacity of the pool in tokens, as the engine prints it."""
    max_concurrency: float
    """Requests of the longest length that the pool holds at once, as the engine prints it."""
    longest: int
    """The longest request that fits, up to the limit asked for."""
    verdict: Verdict
    """Does it start."""
    deciding: str
    """The term that decides: weights, activation, kv_cache …"""
    because: str
    """The verdict in one sentence, with the numbers in it."""

    @property
    def deciding_rank(self) -> Rank:
        """The rank with the least room, which sets the capacity of all."""
        return min(self.ranks, key=lambda rank: rank.pool.blocks(rank.kv_cache.best))

    def capacity(self, available: float) -> tuple[int, float]:
        """Tokens and concurrency that the engine prints for a pool of `available` bytes on the deciding rank."""
        return _capacity(self.deciding_rank.pool, available, self.limits, behaviour(release(self.deployment.release)))

    def kv_bytes_per_request(self, length: int) -> int:
        """Bytes of cache that one request of `length` tokens holds on the deciding rank."""
        return self.deciding_rank.pool.request_bytes(length)

    def requests(self, length: int) -> int:
        """Requests of `length` tokens that the pool holds at once, beside the null block."""
        rank = self.deciding_rank
        return max(0, rank.pool.blocks(rank.kv_cache.best) - 1) // rank.pool.blocks_for(length)


def estimate(deployment: Deployment) -> Fit:
    """Work out the memory of a deployment.

    Raises:
        UnknownName: a quantization or a cache dtype that nobody knows.
        ValueError: the release is none.
        NotImplementedError: the model has a kind of layer whose memory is not worked out.
    """
    engine = behaviour(release(deployment.release))
    visible = visible_memory(deployment.gpu, deployment.mig)
    given = Given(
        max_model_len=deployment.max_model_len,
        max_num_seqs=deployment.max_num_seqs,
        max_num_batched_tokens=deployment.max_num_batched_tokens,
        gpu_memory_utilization=deployment.gpu_memory_utilization,
    )
    limits = resolve(given, deployment.model, deployment.gpu, visible.best, engine)
    ranks = tuple(
        _rank(deployment, stage, limits, visible, engine)
        for stage in stages(deployment.model, deployment.pipeline_parallel)
    )
    return _answer(deployment, limits, ranks, engine)


def _rank(deployment: Deployment, stage: Stage, limits: Limits, visible: Estimate, engine: Behaviour) -> Rank:
    model, tp = deployment.model, deployment.tensor_parallel
    dtype = deployment.dtype or model.dtype
    element = BYTES[dtype]
    scheme = scheme_of(model, deployment.quantization)
    hopper = deployment.gpu.capability >= HOPPER
    batch = Batch(
        tokens=limits.max_num_batched_tokens.value,
        seqs=limits.max_num_seqs.value,
        element=element,
        tensor_parallel=tp,
        second_runner=engine.second_runner.runs(model, quantized=scheme.key != "none"),
        programs=deployment.gpu.multiprocessors,
        workspace=(engine.product_workspace_hopper_mib if hopper else engine.product_workspace_mib).value * MIB,
        expert_workspace=not (hopper and scheme.key == "mxfp4") or bool(engine.mxfp4_workspace_hopper.value),
    )
    share = limits.gpu_memory_utilization.value
    budget = Estimate(
        low=visible.low * share,
        best=visible.best * share,
        high=visible.high * share,
        stands_on=visible.stands_on,
        because=f"{share:g} of {gib(visible.best)}",
    )
    loaded = weights(
        model,
        stage,
        engine,
        scheme=scheme,
        dtype=dtype,
        tensor_parallel=tp,
        padding=_padding(deployment.gpu, engine) if scheme.key == "mxfp4" else None,
    )
    peak = activation(model, stage, batch, engine)
    outside = non_torch(deployment.gpu, tp, deployment.pipeline_parallel, engine)
    graphs = cuda_graph(
        engine,
        layers=stage.layers,
        seqs=batch.seqs,
        tokens=batch.tokens,
        eager=deployment.enforce_eager,
    )
    because = f"{gib(budget.best)} less weights, activation, non-torch memory and graphs"
    left = remainder(budget, (loaded, peak, outside, graphs), because)
    return Rank(
        stage=stage.index,
        budget=budget,
        weights=loaded,
        activation=peak,
        non_torch=outside,
        cuda_graph=graphs,
        kv_cache=left,
        pool=cache_pool(deployment, stage, limits, element, engine),
    )


def _padding(gpu: Gpu, engine: Behaviour) -> Padding:
    """What the kernels for mxfp4 experts round up to on this card."""
    hopper = HOPPER <= gpu.capability < BLACKWELL
    width = engine.mxfp4_width_hopper if hopper else engine.mxfp4_width
    return Padding(hidden=int(engine.mxfp4_hidden.value), width=int(width.value))


def cache_pool(deployment: Deployment, stage: Stage, limits: Limits, element: int, engine: Behaviour) -> Pool:
    """How the engine organises the cache of one rank."""
    choice = CacheChoice(
        dtype=kv_dtype(deployment.kv_cache_dtype),
        model_bytes=element,
        tensor_parallel=deployment.tensor_parallel,
        block=int(engine.block.value),
        latent_block=int((engine.latent_block if deployment.gpu.capability >= HOPPER else engine.block).value),
    )
    found = with_aligned_states(cache_layers(stage, choice), int(engine.block.value))
    batches = engine.batches_in_flight.value if deployment.pipeline_parallel == 1 else deployment.pipeline_parallel
    asked = deployment.prefix_caching
    caching = bool(engine.state_prefix_caching.value) if asked is None else asked
    return pool(
        found,
        in_flight=int(batches * limits.max_num_batched_tokens.value),
        states=2 if caching else 1,
        widening=engine.group_widening.value,
    )


def _answer(deployment: Deployment, limits: Limits, ranks: tuple[Rank, ...], engine: Behaviour) -> Fit:
    length = limits.max_model_len.value
    rank = min(ranks, key=lambda each: each.pool.blocks(each.kv_cache.best))
    best = rank.kv_cache.best
    tokens, concurrency = _capacity(rank.pool, best, limits, engine)
    needed = rank.pool.request_bytes(length) + rank.pool.bytes_per_block
    verdict: Verdict = "no"
    if needed <= best:
        verdict = "yes" if needed <= rank.kv_cache.low else "tight"
    deciding = _deciding(rank)
    because = _sentence(rank, needed, context(length), _DECIDING[deciding])
    return Fit(
        deployment=deployment,
        limits=limits,
        ranks=ranks,
        kv_cache_tokens=tokens,
        max_concurrency=concurrency,
        longest=rank.pool.longest(best, length),
        verdict=verdict,
        deciding=deciding,
        because=because,
    )


def _capacity(found: Pool, available: float, limits: Limits, engine: Behaviour) -> tuple[int, float]:
    """Tokens and concurrency as the engine prints them, which changed with a release."""
    length = limits.max_model_len.value
    concurrency = found.concurrency(available, length)
    if engine.tokens_by_concurrency.value:
        return int(concurrency * length), concurrency
    groups = sum(group.groups for group in found.groups)
    block = min(group.layers.block for group in found.groups)
    return found.blocks(available) // groups * block, concurrency


_DECIDING: Final = {
    "weights": "the weights decide",
    "activation": "the activation peak decides",
    "non_torch": "the buffers between GPUs decide",
    "cuda_graph": "the CUDA graphs decide",
    "kv_cache": "the KV cache decides",
}
"""Each term of the memory, as the subject of a verdict."""


def _deciding(rank: Rank) -> str:
    """The term that decides: what alone exceeds the budget, else the largest beside it, else the cache."""
    if rank.weights.best >= rank.budget.best:
        return "weights"
    if rank.kv_cache.best > 0:
        return "kv_cache"
    others = {"activation": rank.activation, "non_torch": rank.non_torch, "cuda_graph": rank.cuda_graph}
    return max(others, key=lambda name: others[name].best)


def _sentence(rank: Rank, needed: float, length: str, decides: str) -> str:
    left = rank.kv_cache.best
    if left < 0:
        return (
            f"{gib(needed - left)} short: weights, activation and buffers exceed the {gib(rank.budget.best)} of "
            f"the engine by {gib(-left)}, and one request of {length} tokens needs {gib(needed)}; {decides}"
        )
    said = f"one request of {length} tokens needs {gib(needed)}, {gib(left)} is left for the KV cache"
    return said if needed <= left else f"{gib(needed - left)} short: {said}; {decides}"
