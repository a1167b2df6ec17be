"""The speed of one replica at one concurrency."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from chartgen.kernel.units import Seconds
from chartgen.speed.answer import Band, Speed
from chartgen.speed.efficiencies import Rates
from chartgen.speed.question import Measurement, SpeedQuestion
from chartgen.speed.replica import WAYS, Flow, replica
from chartgen.speed.words import account

T = TypeVar("T", bound=float)


def predict(question: SpeedQuestion, measured: Measurement | None = None, *, using: Rates | None = None) -> Speed:
    """Work out the speed of one replica.

    `measured` wins over what is worked out; `using` replaces the efficiencies in force, as a fit does.

    Raises:
        UnknownName: a quantization or a cache dtype that nobody knows.
        ValueError: the release is none, or a count is below one.
        NotImplementedError: the model has a kind of layer whose weights are not worked out.
    """
    asked = replica(question, using)
    flows = [asked.flow(question.concurrency, way) for way in WAYS]
    if measured:
        flows = [_with(flow, measured, question) for flow in flows]
    return Speed(
        time_to_first_token=_band(flows, lambda flow: Seconds(flow.first)),
        inter_token_latency=_band(flows, lambda flow: Seconds(flow.gap)),
        output_tokens_per_second=_band(flows, lambda flow: flow.requests * question.answer_tokens),
        requests_per_second=_band(flows, lambda flow: flow.requests),
        cliff_concurrency=asked.pool,
        queueing=question.concurrency > asked.limit(),
        because=account(asked, question.concurrency, measured),
        stands_on="measured" if measured and _complete(measured) else asked.ground,
    )


def _complete(measured: Measurement) -> bool:
    return measured.time_to_first_token is not None and measured.inter_token_latency is not None


def _with(flow: Flow, measured: Measurement, question: SpeedQuestion) -> Flow:
    """The flow with the measured means in place of the estimates."""
    first = flow.first if measured.time_to_first_token is None else measured.time_to_first_token
    gap = flow.gap if measured.inter_token_latency is None else measured.inter_token_latency
    requests = measured.requests_per_second or question.concurrency / (first + question.answer_tokens * gap)
    return Flow(first=first, gap=gap, requests=requests, running=flow.running)


def _band(flows: list[Flow], of: Callable[[Flow], T]) -> Band[T]:
    values = [of(flow) for flow in flows]
    return Band(low=min(values), best=values[WAYS.index("likely")], high=max(values))
