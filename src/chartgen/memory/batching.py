"""How many sequences a replica may run at once: what its KV cache holds, no more.

The engine's default sizes its sampler for 256 or 1024 sequences. Where the pool holds fewer, the smaller limit
gives memory back to the pool.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from chartgen.kernel.units import Tokens
from chartgen.memory.fit import Deployment, Fit, estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a replica has to hold."""

    longest: Tokens
    """The longest request, in tokens."""
    typical: Tokens
    """A typical request, prompt and answer together."""
    full_length: int
    """Requests of the longest length that it must hold at once."""


def batched(asked: Deployment, need: Need) -> Fit:
    """The deployment with as many sequences as its pool holds at the typical length, within the engine's default.

    A limit that is asked for is kept. A smaller limit leaves a larger pool, so the most sequences that their own
    pool holds are found by halving. The limit never falls below the full-length requests that are needed.
    """
    fit = estimate(replace(asked, max_model_len=need.longest))
    if asked.max_num_seqs is not None or fit.requests(need.typical) >= fit.limits.max_num_seqs.value:
        return fit
    low, high = need.full_length, max(need.full_length, fit.limits.max_num_seqs.value)
    while low < high:
        middle = (low + high + 1) // 2
        held = _limited(asked, need, middle).requests(need.typical)
        low, high = (middle, high) if held >= middle else (low, middle - 1)
    return _limited(asked, need, low)


def _limited(asked: Deployment, need: Need, sequences: int) -> Fit:
    return estimate(replace(asked, max_model_len=need.longest, max_num_seqs=sequences))


def won(fit: Fit, need: Need) -> float:
    """Bytes of pool that the chosen sequence limit wins over the engine's default; 0 when it is the default."""
    default = estimate(replace(fit.deployment, max_model_len=need.longest, max_num_seqs=None))
    return max(0, fit.deciding_rank.kv_cache.best - default.deciding_rank.kv_cache.best)
