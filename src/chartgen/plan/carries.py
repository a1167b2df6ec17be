"""How much one replica carries inside the objectives: it feeds scaling, and never blocks a render."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chartgen.kernel.decision import assumed, worked_out
from chartgen.memory.fit import Fit
from chartgen.plan.types import Carries
from chartgen.resolve import Resolved
from chartgen.speed import Capacity, Measurement, Objectives, capacity, question_of


def plan_carries(resolved: Resolved, fits: Sequence[Fit], held: int) -> Carries:
    """Estimate one replica's load, on the slowest alternative; `held` is what its KV cache holds at typical length."""
    found = (_carries(resolved, fit, held) for fit in fits)
    return min(found, key=lambda one: (one.requests_per_second.value, one.in_flight.value))


def _carries(resolved: Resolved, fit: Fit, held: int) -> Carries:
    question = question_of(
        fit,
        prompt_tokens=resolved.lengths.typical_prompt.value,
        answer_tokens=resolved.lengths.typical_answer.value,
        expert_parallel=fit.deployment.expert_parallel,
    )
    objectives = Objectives()
    if resolved.interactive:
        objectives = Objectives(
            time_to_first_token=resolved.first_token.value, inter_token_latency=resolved.token_gap.value
        )
    measured = resolved.profile.measured.requests_per_second
    try:
        found = capacity(question, objectives, Measurement(requests_per_second=measured))
    except NotImplementedError as error:
        return _unknown(held, str(error))
    if found.concurrency.best >= 1:
        return _known(found, held)
    missed = f"the objectives are out of reach by this estimate, even for one request: {found.because}"
    return replace(_known(capacity(question, Objectives()), held), missed=missed)


def _known(found: Capacity, held: int) -> Carries:
    count, rate = found.concurrency, found.requests_per_second
    return Carries(
        in_flight=worked_out(
            min(held, count.best),
            f"{count.best} ({count.low} to {count.high}) in flight; {found.because}; the KV cache holds {held}",
        ),
        requests_per_second=worked_out(
            round(rate.best, 3), f"{rate.best:.2g} ({rate.low:.2g} to {rate.high:.2g}); {found.because}"
        ),
    )


def _unknown(held: int, because: str) -> Carries:
    return Carries(
        in_flight=assumed(held, f"What the KV cache holds, as {because}"),
        requests_per_second=assumed(0.0, because),
    )
