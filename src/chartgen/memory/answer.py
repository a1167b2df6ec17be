"""The answer to a question: the layout that was asked for, or the smallest that fits, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chartgen.catalog.assumptions import whole
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import Attempt
from chartgen.kernel.units import Tokens
from chartgen.memory.deployment import Deployment
from chartgen.memory.fit import Fit, estimate
from chartgen.memory.layouts import Need, arrangements, shortage
from chartgen.memory.levers import Lever, levers
from chartgen.memory.question import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was found."""

    asked: Asked
    """The question."""
    fit: Fit
    """Memory, capacity and verdict of the layout."""
    levers: tuple[Lever, ...]
    """What would make it fit, the cheapest first; empty where it fits."""


def answer(asked: Asked) -> Answer:
    """Answer a question: for the layout it gives, or for the smallest that holds what it asks.

    Where none does, the answer is that of the largest layout, with the verdict "no".

    Raises:
        NotImplementedError: the model has a kind of layer whose memory is not worked out.
    """
    wanted = asked.question.concurrency
    fit: Fit | None = None
    for option in _layouts(asked):
        fit = estimate(option)
        if fit.verdict != "no" and fit.requests(fit.limits.max_model_len.value) >= wanted:
            break
    if fit is None:
        msg = "a question without a layout"
        raise AssertionError(msg)
    longest = Tokens(fit.limits.max_model_len.value)
    because = shortage(fit, Need(longest=longest, typical=longest, full_length=wanted))
    if because is None:
        return Answer(asked=asked, fit=fit, levers=())
    return Answer(asked=asked, fit=replace(fit, verdict="no", because=because), levers=tuple(levers(fit, wanted)))


def _layouts(asked: Asked) -> Iterator[Deployment]:
    question, deployment = asked.question, asked.deployment
    given = question.tensor_parallel_size
    stages = question.pipeline_parallel_size
    if given is not None or deployment.mig is not None:
        yield deployment
        return
    most = max(deployment.gpu.per_node)
    for option in arrangements(deployment, most, whole("nodes-of-a-replica") if stages is None else None):
        if not isinstance(option, Attempt):
            yield option if stages is None else replace(option, pipeline_parallel=stages)
