"""How much runs at once: what the KV cache holds, of the alternative that holds least."""

from __future__ import annotations

from collections.abc import Sequence

from chartgen.catalog.assumptions import sentence
from chartgen.kernel.decision import fact, worked_out
from chartgen.kernel.units import context, gib
from chartgen.memory.fit import Fit
from chartgen.plan.layout import need_of, utilization_of
from chartgen.plan.types import Batching
from chartgen.resolve import Resolved


def weakest(fits: Sequence[Fit]) -> Fit:
    """The fit whose KV cache holds the fewest tokens."""
    return min(fits, key=lambda fit: fit.kv_cache_tokens)


def plan_batching(resolved: Resolved, fits: Sequence[Fit]) -> Batching:
    """Limits that fit every alternative: a smaller batch never needs more memory."""
    need, fit = need_of(resolved), weakest(fits)
    pool = gib(fit.deciding_rank.kv_cache.best)
    held = fit.requests(need.typical)
    sequences = min(one.limits.max_num_seqs.value for one in fits)
    tokens = min((one.limits.max_num_batched_tokens for one in fits), key=lambda limit: limit.value)
    of = f" on {fit.deployment.gpus} x {fit.deployment.gpu.title}, the least of the alternatives," if fits[1:] else ""
    return Batching(
        context_length=resolved.lengths.context,
        sequences=worked_out(
            sequences,
            f"{pool} of KV cache{of} hold {held} requests of typical length ({need.typical} tokens) and "
            f"{fit.requests(need.longest)} of the longest ({context(need.longest)}); a larger limit only costs memory",
        ),
        batched_tokens=worked_out(tokens.value, f"{sentence(tokens.because)}, written out"),
        utilization=utilization_of(resolved),
        kv_dtype=fact("auto", "The KV cache has the model's own type"),
        in_flight=worked_out(
            min(held, sequences),
            f"{pool} of KV cache{of} hold {held} requests of {need.typical} tokens, and {sequences} may run at once",
        ),
    )
