"""An Estimate: an amount with its margin, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot
from typing import Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import gib

Ground = Literal["measured", "formula", "assumed"]
"""What a figure rests on: printed by a real engine or driver; arithmetic on known shapes; an assumption."""

_WEAKEST: tuple[Ground, ...] = ("measured", "formula", "assumed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An amount of memory in bytes: the least, the likely and the most it may be."""

    low: float
    """The least, in bytes."""
    best: float
    """The likely figure, in bytes."""
    high: float
    """The most, in bytes."""
    stands_on: Ground
    """The weakest ground under it."""
    because: str
    """One sentence with the numbers in it."""

    def __str__(self) -> str:
        """The likely amount, with the margin where there is one."""
        if self.low == self.high:
            return gib(self.best)
        return f"{gib(self.best)} ({gib(self.low)} to {gib(self.high)})"


def exactly(amount: float, because: str, stands_on: Ground = "formula") -> Estimate:
    """An amount without a margin."""
    return Estimate(low=amount, best=amount, high=amount, stands_on=stands_on, because=because)


def remainder(whole: Estimate, terms: Sequence[Estimate], because: str) -> Estimate:
    """What is left of `whole` after `terms`. Their margins are independent, so they add as squares do."""
    best = whole.best - sum(term.best for term in terms)
    below = hypot(whole.best - whole.low, *(term.high - term.best for term in terms))
    above = hypot(whole.high - whole.best, *(term.best - term.low for term in terms))
    stands_on = weakest(term.stands_on for term in (whole, *terms))
    return Estimate(low=best - below, best=best, high=best + above, stands_on=stands_on, because=because)


def weakest(grounds: Iterable[Ground]) -> Ground:
    """The ground that a sum of figures rests on."""
    return max(grounds, key=_WEAKEST.index, default="formula")
