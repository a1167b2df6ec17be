"""PromQL, as far as an autoscaler cares: which metrics a query reads, and how many series it gives.

A recursive-descent reader of the query language (prometheus/prometheus promql/parser/generated_parser.y). It
keeps no tree: what a policy asks of a query is worked out on the way up.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

from chartgen.kernel.dataclass import dataclass

_TOKEN: Final = re.compile(
    r"""\s*(?:\#[^\n]*\s*)*(?:
    (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
  | (?P<duration>\d+(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*(?![\w.]))
  | (?P<number>0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<variable>\$\{?\w+\}?)
  | (?P<name>[A-Za-z_:][\w:]*)
  | (?P<operator>=~|!~|!=|==|>=|<=|[-+*/%^<>=@(){}\[\],:])
    )""",
    re.VERBOSE,
)
_PRECEDENCE: Final = {
    "or": 1, "and": 2, "unless": 2, "==": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "atan2": 5, "^": 6,
}  # fmt: skip
_CHOOSERS: Final = frozenset({"topk", "bottomk", "limitk", "limit_ratio", "count_values"})
_AGGREGATES: Final = _CHOOSERS | {"sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "quantile"}
_RATES: Final = frozenset({"rate", "irate", "increase", "delta", "idelta", "deriv"})
_SCALARS: Final = frozenset({"time", "pi", "scalar"})
_ONE_SERIES: Final = frozenset({"vector", "absent", "absent_over_time"})
_SINGLING: Final = frozenset({"pod", "instance", "pod_name", "kubernetes_pod_name"})
"""Labels of which one value names one series' target."""


class PromQLError(ValueError):
    """A query that this reader does not understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a query reads and gives."""

    metrics: tuple[str, ...] = ()
    """The metrics it reads, in order; a histogram's with its suffix."""
    raw: tuple[str, ...] = ()
    """Those that are not inside rate() or its kin."""
    labels: frozenset[str] | None = frozenset()
    """The labels that still tell its series apart; None when they all do; empty for a single series."""
    outer: str = ""
    """The outermost aggregation or function: sum, avg, histogram_quantile; empty for none."""
    ratio: bool = False
    """Whether it divides one thing that was measured by another."""
    filled: bool = False
    """Whether `or vector(0)` stands in for missing data."""
    scalar: bool = False
    """Whether it is a plain number."""


@lru_cache(maxsize=4096)
def read_query(text: str) -> Query:
    """What a query reads and gives.

    Raises:
        PromQLError: the text is no PromQL that this reader understands.
    """
    reader = _Reader(text)
    try:
        query = reader.expression(0)
    except RecursionError as error:
        raise PromQLError("nested too deeply") from error
    if reader.peek():
        raise PromQLError(f"{reader.peek()!r} is not expected there")
    return query


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place, end = 0, len(text.rstrip())
        while place < end:
            match = _TOKEN.match(text, place)
            if match is None or match.lastgroup is None:
                raise PromQLError(f"{text[place:].strip()[:20]!r} is no PromQL")
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        found = self.peek()
        if not found or (wanted is not None and found != wanted):
            raise PromQLError(f"{found or 'the end'!r} stands where {wanted or 'more'!r} should")
        self.place += 1
        return found

    def skip(self, word: str) -> bool:
        if self.peek() == word:
            self.place += 1
            return True
        return False

    def expression(self, floor: int) -> Query:
        left = self.unary()
        while (precedence := _PRECEDENCE.get(self.peek().lower(), 0)) > floor:
            operator = self.take().lower()
            self.skip("bool")
            matching = self.matching()
            right = self.expression(precedence - (operator == "^"))
            left = _binary(operator, left, right, matching)
        return left

    def matching(self) -> frozenset[str] | Literal["many"] | None:
        """The labels that on() keeps; "many" for ignoring() and group_left(); None when not said."""
        found: frozenset[str] | Literal["many"] | None = None
        while self.peek().lower() in {"on", "ignoring", "group_left", "group_right"}:
            word = self.take().lower()
            names = self.names() if self.peek() == "(" else frozenset()
            found = names if word == "on" else "many"
        return found

    def names(self) -> frozenset[str]:
        self.take("(")
        found = []
        while not self.skip(")"):
            found.append(self.take().strip("\"'`"))
            self.skip(",")
        return frozenset(found)

    def unary(self) -> Query:
        if self.peek() in {"-", "+"}:
            self.take()
            return self.expression(_PRECEDENCE["*"])
        return self.suffixes(self.atom())

    def suffixes(self, query: Query) -> Query:
        """Ranges, subqueries, offset and @ change no label."""
        while True:
            if self.skip("["):
                while self.take() != "]":
                    pass
            elif self.peek().lower() == "offset":
                self.take()
                self.skip("-")
                self.take()
            elif self.skip("@"):
                self.take()
                if self.skip("("):
                    self.take(")")
            else:
                return query

    def atom(self) -> Query:
        kind = self.kind()
        if kind in {"number", "duration", "string", "variable"}:
            self.take()
            return Query(scalar=True)
        if self.skip("("):
            inner = self.expression(0)
            self.take(")")
            return inner
        if self.peek() == "{":
            return self.selector("")
        if kind != "name":
            raise PromQLError(f"{self.peek() or 'the end'!r} stands where a value should")
        return self.word(self.take())

    def word(self, name: str) -> Query:
        """What starts with a name: an aggregation, a call, a number or a selector."""
        plain = name.lower()
        if plain in _AGGREGATES and self.peek() in {"(", "by", "without"}:
            return self.aggregate(plain)
        if self.peek() == "(":
            return _call(plain, self.arguments())
        return Query(scalar=True) if plain in {"inf", "nan"} else self.selector(name)

    def arguments(self) -> list[Query]:
        self.take("(")
        found = []
        while not self.skip(")"):
            found.append(self.expression(0))
            self.skip(",")
        return found

    def aggregate(self, operator: str) -> Query:
        grouping = self.grouping()
        arguments = self.arguments()
        grouping = grouping or self.grouping()
        inner = arguments[-1] if arguments else Query()
        labels: frozenset[str] | None = frozenset()
        if operator in _CHOOSERS:
            labels = None
        elif grouping is not None:
            word, names = grouping
            labels = names if word == "by" else None
        if inner.labels == frozenset():
            labels = frozenset()
        return replace(inner, labels=labels, outer=operator, scalar=False, filled=False)

    def grouping(self) -> tuple[str, frozenset[str]] | None:
        if self.peek().lower() in {"by", "without"}:
            return self.take().lower(), self.names()
        return None

    def selector(self, name: str) -> Query:
        singled = False
        if self.skip("{"):
            while not self.skip("}"):
                label = self.take()
                if self.peek() in {"=", "!=", "=~", "!~"}:
                    operator, value = self.take(), self.take().strip("\"'`")
                    singled = singled or (label in _SINGLING and operator == "=")
                    if label == "__name__" and operator == "=":
                        name = value
                else:
                    name = label.strip("\"'`")
                self.skip(",")
        metrics = (name,) if name else ()
        return Query(metrics=metrics, raw=metrics, labels=frozenset() if singled else None)


def _call(name: str, arguments: list[Query]) -> Query:
    inner = next((one for one in arguments if not one.scalar), Query(scalar=True))
    metrics = tuple(metric for one in arguments for metric in one.metrics)
    if name in _SCALARS:
        return Query(metrics=metrics, raw=inner.raw, scalar=True)
    if name in _ONE_SERIES:
        return Query(metrics=metrics, raw=inner.raw, outer=name)
    labels = inner.labels
    if name in {"histogram_quantile", "histogram_avg", "histogram_fraction"} and labels is not None:
        labels -= {"le"}
    rated = name in _RATES or name.endswith("_over_time")
    return replace(inner, metrics=metrics, raw=() if rated else inner.raw, labels=labels, outer=name, scalar=False)


def _binary(operator: str, left: Query, right: Query, matching: frozenset[str] | Literal["many"] | None) -> Query:
    if operator == "or" and right.outer == "vector" and not right.metrics:
        return replace(left, filled=True)
    metrics, raw = left.metrics + right.metrics, left.raw + right.raw
    if left.scalar or right.scalar:
        kept = right if left.scalar else left
        return replace(kept, metrics=metrics, raw=raw, scalar=left.scalar and right.scalar)
    labels = left.labels
    if operator == "or":
        labels = None if left.labels is None or right.labels is None else left.labels | right.labels
    elif matching == "many":
        labels = None
    elif isinstance(matching, frozenset) and operator not in {"and", "unless"}:
        labels = matching
    elif right.labels == frozenset():
        labels = frozenset()
    ratio = operator == "/" or left.ratio or right.ratio
    outer = left.outer if operator in {"or", "and", "unless"} else operator
    return Query(metrics=metrics, raw=raw, labels=labels, outer=outer, ratio=ratio, filled=left.filled or right.filled)
