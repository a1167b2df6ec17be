"""The load one replica carries inside the objectives."""

from __future__ import annotations

from math import floor

from chartgen.kernel.units import Seconds
from chartgen.speed.answer import Band, Capacity, Limit
from chartgen.speed.question import Measurement, Objectives, SpeedQuestion
from chartgen.speed.replica import WAYS, Flow, Replica, Way, replica
from chartgen.speed.words import duration, standing


def capacity(question: SpeedQuestion, objectives: Objectives, measured: Measurement | None = None) -> Capacity:
    """Work out how many requests in flight, and how many a second, one replica carries.

    The concurrency of the question does not count. A measured rate wins over what is worked out.

    Raises:
        UnknownName: a quantization or a cache dtype that nobody knows.
        ValueError: the release is none, or a count is below one.
        NotImplementedError: the model has a kind of layer whose weights are not worked out.
    """
    asked = replica(question)
    carried = {way: _most(asked, objectives, way) for way in WAYS}
    rates = {way: asked.flow(count, way).requests if count else 0.0 for way, count in carried.items()}
    binds, because = _binding(asked, objectives, carried["likely"])
    if measured and measured.requests_per_second:
        rate = measured.requests_per_second
        because = f"{rate:g} requests a second were measured on one replica; {rates['likely']:.2g} are worked out"
        return Capacity(
            concurrency=_ordered(carried),
            requests_per_second=Band(low=rate, best=rate, high=rate),
            binds="measurement",
            because=because,
            stands_on="measured",
        )
    return Capacity(
        concurrency=_ordered(carried),
        requests_per_second=Band(low=min(rates.values()), best=rates["likely"], high=max(rates.values())),
        binds=binds,
        because=f"{because}; {standing(asked, None)}",
        stands_on=asked.ground,
    )


def _ordered(carried: dict[Way, int]) -> Band[int]:
    return Band(low=min(carried.values()), best=carried["likely"], high=max(carried.values()))


def _missed(flow: Flow, objectives: Objectives) -> tuple[Limit, float, Seconds] | None:
    """The objective that a flow misses: its name, the latency, the aim."""
    latencies: tuple[tuple[Limit, float, Seconds | None], ...] = (
        ("inter-token latency", flow.gap, objectives.inter_token_latency),
        ("time to first token", flow.first, objectives.time_to_first_token),
    )
    return next(((name, found, aim) for name, found, aim in latencies if aim is not None and found > aim), None)


def _most(asked: Replica, objectives: Objectives, way: Way) -> int:
    """The most requests in flight inside the objectives: both latencies grow with them, so halving finds it."""
    low, high = 0, floor(asked.limit(way))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if _missed(asked.flow(middle, way), objectives) else (middle, high)
    return low


def _binding(asked: Replica, objectives: Objectives, most: int) -> tuple[Limit, str]:
    missed = _missed(asked.flow(most + 1), objectives)
    if missed and most < floor(asked.limit()):
        name, found, aim = missed
        return name, f"with {most + 1} in flight {name} is {duration(found)}, over {duration(aim)}"
    if asked.pool is not None and asked.pool < asked.sequences:
        tokens = f"{asked.traffic.context:.0f} tokens"
        return "KV cache pool", f"the KV cache pool holds {asked.pool:.1f} requests of {tokens} each"
    return "sequences in a batch", f"a batch holds {asked.sequences} sequences"
