"""Rows of values, one of each axis, that hold every pair of values of two axes: where not every row can be.

Most faults need one value or two together, so rows that hold every pair find nearly all that the whole product
would find, with a thousandth of its rows (Kuhn, Wallace, Gallo: Software Fault Interactions and Implications for
Software Testing, IEEE Transactions on Software Engineering 30(6), 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final

Row = tuple[str, ...]
"""One value of each axis, in the order of the axes."""
Pair = tuple[int, str, int, str]
"""A value of an axis and a value of a later axis, the axes by their numbers."""

ALSO: Final = " | "
"""Between the reasons for which one pair cannot be."""
_TRIES: Final = 3
"""So many of the most wanted values are tried for an axis before it keeps an easy one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that varies."""

    name: str
    values: tuple[str, ...]
    easy: tuple[str, ...]
    """Values that stand in a way least: a pair is impossible if it is refused beside every mix of easy values."""


@dataclass(slots=True)
class Covering:
    """Chooses rows greedily, always the same ones, and learns which pairs no row can hold."""

    axes: Sequence[Axis]
    refusal: Callable[[Row], str | None]
    """Why a row cannot be; None when it can."""
    open: dict[Pair, None] = field(init=False)
    """Pairs that no row has held yet."""
    impossible: dict[Pair, str] = field(default_factory=dict)
    """Pairs that no row can hold, each with every reason that was given."""
    _known: dict[Row, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        axes = list(enumerate(self.axes))
        of_two = sorted(combinations(axes, 2), key=lambda two: len(two[0][1].values) * len(two[1][1].values))
        self.open = dict.fromkeys(
            (i, one, j, other) for (i, a), (j, b) in of_two for one in a.values for other in b.values
        )

    def rows(self) -> Iterator[Row]:
        """Rows until every pair is held by one of them or is known to be impossible."""
        while self.open:
            pair = next(iter(self.open))
            row = self._row(pair)
            if row is None:
                del self.open[pair]
                continue
            for held in pairs_of(row):
                self.open.pop(held, None)
            yield row

    def _row(self, pair: Pair) -> Row | None:
        """A row with this pair and as many other open pairs as is easily had; None when there is no row with it."""
        i, one, j, other = pair
        fixed = {i: one, j: other}
        mixes = product(*((fixed[at],) if at in fixed else axis.easy for at, axis in enumerate(self.axes)))
        reasons: dict[str, None] = {}
        for row in mixes:
            why = self._why_not(row)
            if why is None:
                return self._enriched(row, fixed)
            reasons[why] = None
        self.impossible[pair] = ALSO.join(reasons)
        return None

    def _enriched(self, row: Row, fixed: dict[int, str]) -> Row:
        """The row with easy values replaced by ones whose pairs are still open, as far as it can be."""
        free = [at for at in range(len(self.axes)) if at not in fixed]
        wished = dict(fixed)
        for at in free:
            wished[at] = next(iter(self._wanted(at, wished)), row[at])
        bold = tuple(wished[at] for at in range(len(self.axes)))
        if self._why_not(bold) is None:
            return bold
        done = dict(fixed)
        for at in free:
            for value in self._wanted(at, done)[:_TRIES]:
                richer = (*row[:at], value, *row[at + 1 :])
                if self._why_not(richer) is None:
                    row = richer
                    break
            done[at] = row[at]
        return row

    def _wanted(self, at: int, chosen: dict[int, str]) -> list[str]:
        """The values of an axis that close open pairs with the chosen values of other axes, most of them first."""
        gains = dict[str, int]()
        for value in self.axes[at].values:
            pairs = [_pair(at, value, other, there) for other, there in chosen.items()]
            if not any(pair in self.impossible for pair in pairs):
                gains[value] = sum(pair in self.open for pair in pairs)
        return sorted((value for value, gain in gains.items() if gain), key=lambda value: -gains[value])

    def _why_not(self, row: Row) -> str | None:
        if row not in self._known:
            held = next((self.impossible[pair] for pair in pairs_of(row) if pair in self.impossible), None)
            self._known[row] = held or self.refusal(row)
        return self._known[row]


def _pair(at: int, value: str, other: int, there: str) -> Pair:
    return (at, value, other, there) if at < other else (other, there, at, value)


def pairs_of(row: Row) -> Iterator[Pair]:
    """Every pair that a row holds."""
    for (i, one), (j, other) in combinations(enumerate(row), 2):
        yield i, one, j, other
