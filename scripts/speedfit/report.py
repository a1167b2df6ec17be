"""How well predictions hold, in figures and as a table by card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from statistics import median

from speedfit.objective import Miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """How far predictions of one quantity are off."""

    runs: int
    """Runs that measured it."""
    typical: float
    """Median absolute error, as a share of the measured value."""
    tenth: float
    """The error that one run in ten exceeds."""
    bias: float
    """Median of predicted over measured."""
    inside: float
    """Share of runs inside the band."""


def errors(logs: Sequence[float], margins: Sequence[float]) -> Errors | None:
    """The errors of logarithmic misses, each with the margin of its band; None without any."""
    if not logs:
        return None
    off = sorted(abs(exp(each) - 1) for each in logs)
    inside = sum(abs(each) <= margin for each, margin in zip(logs, margins, strict=True))
    return Errors(
        runs=len(logs),
        typical=median(off),
        tenth=quantile(off, 0.9),
        bias=median(exp(each) for each in logs),
        inside=inside / len(logs),
    )


def quantile(values: Iterable[float], share: float) -> float:
    """The value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a table."""

    name: str
    """What the runs have in common."""
    gap: Errors | None
    """Of the inter-token latency."""
    first: Errors | None
    """Of the time to first token."""


def line(name: str, found: Sequence[Miss]) -> Line:
    """The errors of some runs."""
    gaps = [(miss.gap, miss.gap_margin) for miss in found if miss.gap is not None]
    firsts = [(miss.first, miss.first_margin) for miss in found if miss.first is not None]
    return Line(
        name=name,
        gap=errors([log for log, _ in gaps], [margin for _, margin in gaps]),
        first=errors([log for log, _ in firsts], [margin for _, margin in firsts]),
    )


def lines(found: Sequence[Miss], by: Callable[[Miss], str]) -> Iterator[Line]:
    """One line for each value of `by`, then one for all."""
    for name in sorted({by(miss) for miss in found}):
        yield line(name, [miss for miss in found if by(miss) == name])
    yield line("all", found)


HEAD = (
    f"{'':64}{'runs':>5}  inter-token latency           time to first token\n"
    f"{'':64}{'':5}  median  1 in 10   bias  band  median  1 in 10   bias  band"
)


def written(each: Line) -> str:
    """A line of the table."""
    runs = max(found.runs for found in (each.gap, each.first) if found)
    return f"{each.name:64}{runs:5}  {_figures(each.gap)}  {_figures(each.first)}"


def _figures(found: Errors | None) -> str:
    if found is None:
        return " " * 28
    return f"{found.typical:6.1%}  {found.tenth:7.0%}  {found.bias:5.2f}  {found.inside:4.0%}"
