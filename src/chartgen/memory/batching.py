"""How many sequences a replica may run at once: what its KV cache holds, no more.

The engine's default sizes its sampler for 256 or 1024 sequences. Where the pool holds fewer, the smaller limit gives
memory back to the pool.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from chartgen.kernel.units import Tokens
from chartgen.memory.fit import Deployment, Fit, estimate

_ROUNDS = 4
"""Each round halves what is left to win; four reach a fixed point or come within a sequence of it."""


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

    A limit that is asked for is kept.
    """
    fit = estimate(replace(asked, max_model_len=need.longest))
    if asked.max_num_seqs is not None:
        return fit
    default = fit.limits.max_num_seqs.value
    for _ in range(_ROUNDS):
        held = max(fit.requests(need.typical), need.full_length) if fit.deciding_rank.kv_cache.best > 0 else 0
        wanted = min(default, max(held, need.full_length))
        if wanted == fit.limits.max_num_seqs.value:
            break
        fit = estimate(replace(asked, max_model_len=need.longest, max_num_seqs=wanted))
    return fit
