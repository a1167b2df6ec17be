"""What a fit makes small: how far predictions are off, by logarithm, and how far efficiencies from expectation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, log, sqrt
from typing import Final

from chartgen.speed.efficiencies import Efficiency, Rates
from chartgen.speed.replica import replica
from speedfit.cases import Case

SCATTER: Final = 0.15
"""What a good prediction is off by, as a logarithm: beyond, a run counts less than its square."""
FIRST_WEIGHT: Final = 0.6
"""Weight of a time to first token beside an inter-token latency: it scatters more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """How far one run is from its prediction: logarithms of predicted over measured."""

    case: Case
    """The run."""
    first: float | None
    """Of the time to first token."""
    gap: float | None
    """Of the inter-token latency."""
    first_margin: float
    """Half of the band of the time to first token."""
    gap_margin: float
    """Half of the band of the inter-token latency."""


def misses(cases: Iterable[Case], rates: Rates) -> Iterator[Miss]:
    """The misses of runs under these efficiencies; no pool, since runs below the cliff do not queue."""
    for case in cases:
        asked = replica(case.question, rates)
        flow = asked.flow(case.question.concurrency)
        yield Miss(
            case=case,
            first=None if case.first is None else log(flow.first / case.first),
            gap=None if case.gap is None else log(flow.gap / case.gap),
            first_margin=log(asked.margin(asked.facts.time_to_first_token)),
            gap_margin=log(asked.margin(asked.facts.inter_token_latency)),
        )


def weights(cases: Sequence[Case]) -> list[float]:
    """A group of runs counts by the root of its size: many runs of one model must not drown the others."""
    sizes = Counter(case.group for case in cases)
    typical = len(cases) / len(sizes)
    return [(typical / sizes[case.group]) ** 0.25 for case in cases]


def free(efficiencies: Mapping[str, Efficiency]) -> list[str]:
    """The efficiencies that a fit may move."""
    return [name for name, entry in efficiencies.items() if entry.spread > 1]


def residuals(cases: Sequence[Case], rates: Rates, efficiencies: Mapping[str, Efficiency]) -> list[float]:
    """Weighted misses, then the distance of each free efficiency from its expectation."""
    found = []
    for miss, weight in zip(misses(cases, rates), weights(cases), strict=True):
        if miss.gap is not None:
            found.append(weight * miss.gap)
        if miss.first is not None:
            found.append(weight * FIRST_WEIGHT * miss.first)
    values = asdict(rates)
    for name in free(efficiencies):
        entry = efficiencies[name]
        found.append(SCATTER * log(values[name] / entry.expected) / log(entry.spread))
    return found


def cost(cases: Sequence[Case], rates: Rates, efficiencies: Mapping[str, Efficiency]) -> float:
    """The sum that a fit makes small: squares near zero, growing straight beyond the usual scatter."""
    return sum(2 * (sqrt(1 + (each / SCATTER) ** 2) - 1) for each in residuals(cases, rates, efficiencies))


def moved(rates: Rates, names: Sequence[str], logs: Sequence[float]) -> Rates:
    """The efficiencies with the named ones at these logarithms."""
    return replace(rates, **{name: exp(value) for name, value in zip(names, logs, strict=True)})
