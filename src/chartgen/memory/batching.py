"""How many sequences a replica may run at once: what its KV cache holds, no more.

The engine's default sizes its sampler for 256 or 1024 sequences. Where the pool holds fewer, the smaller limit
gives memory back to the pool.
"""

from __future__ import annotations

from dataclasses import replace

from chartgen.kernel.dataclass import dataclass
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

    A limit that is asked for is kept. A smaller limit leaves a larger pool: what the pool of the default holds is
    surely held, what the pool of that limit holds is the most there can be, and between them halving finds the
    last limit that its own pool holds, beside the full-length requests that are needed. The limit never falls
    below the number of those.
    """
    fit = estimate(replace(asked, max_model_len=need.longest))
    default = fit.limits.max_num_seqs.value
    if asked.max_num_seqs is not None or _carries(fit, need, default):
        return fit
    low = max(need.full_length, fit.requests(need.typical) if _carries(fit, need, 0) else 0)
    best = _limited(asked, need, low)
    high = min(default, max(low, best.requests(need.typical)))
    while low < high:
        middle = (low + high + 1) // 2
        fit = _limited(asked, need, middle)
        if _carries(fit, need, middle):
            low, best = middle, fit
        else:
            high = middle - 1
    return best


def _carries(fit: Fit, need: Need, sequences: int) -> bool:
    """Whether the pool holds so many typical requests, and the full-length ones that are needed."""
    return fit.requests(need.typical) >= sequences and fit.requests(need.longest) >= need.full_length


def cautious(asked: Deployment, need: Need) -> Fit:
    """The deployment with no more sequences than are needed at full length: if this does not carry it, none does."""
    if asked.max_num_seqs is not None:
        return estimate(replace(asked, max_model_len=need.longest))
    return _limited(asked, need, need.full_length)


def _limited(asked: Deployment, need: Need, sequences: int) -> Fit:
    return estimate(replace(asked, max_model_len=need.longest, max_num_seqs=sequences))
