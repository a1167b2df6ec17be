"""PromQL: how many series a query gives, and which metrics it reads."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartgen.lint.promql import PromQLError, read_query

SINGLE = frozenset[str]()


@pytest.mark.parametrize(
    ("query", "labels", "metrics"),
    [
        ("sum(a)", SINGLE, ("a",)),
        ("a", None, ("a",)),
        ('a{x="1"}', None, ("a",)),
        ('a{pod="p-0"}', SINGLE, ("a",)),
        ("sum by (pod) (a)", {"pod"}, ("a",)),
        ("sum(a) by (pod, x)", {"pod", "x"}, ("a",)),
        ("sum without (pod) (a)", None, ("a",)),
        ("max(sum by (pod) (a))", SINGLE, ("a",)),
        ("topk(1, a)", None, ("a",)),
        ("histogram_quantile(0.9, sum by (le) (rate(a_bucket[5m])))", SINGLE, ("a_bucket",)),
        ("sum(a) / sum(b)", SINGLE, ("a", "b")),
        ("sum(a) / on() b", SINGLE, ("a", "b")),
        ("a * on (x) group_left (y) b", None, ("a", "b")),
        ("sum(a) or vector(0)", SINGLE, ("a",)),
        ("max_over_time(sum(a)[5m:30s])", SINGLE, ("a",)),
        ("scalar(a)", SINGLE, ("a",)),
        ("-sum(a) ^ 2", SINGLE, ("a",)),
        ("sum(a offset 5m)", SINGLE, ("a",)),
        ("sum(a @ start())", SINGLE, ("a",)),
        ('{__name__="a:b", x!~"c"}', None, ("a:b",)),
        ('{"a:b"}', None, ("a:b",)),
        ("sum(rate(a[$__rate_interval]))", SINGLE, ("a",)),
        ("sum(a) > bool 3", SINGLE, ("a",)),
        ("1 + 2", SINGLE, ()),
    ],
)
def test_series(query: str, labels: frozenset[str] | set[str] | None, metrics: tuple[str, ...]) -> None:
    """The labels that still tell series apart, and the metrics, are those that Prometheus would give."""
    found = read_query(query)
    assert found.labels == labels
    assert found.metrics == metrics


def test_rates_hide_counters() -> None:
    """A counter inside a rate is no raw counter; beside it, it is."""
    assert read_query("sum(rate(a_total[5m]))").raw == ()
    assert read_query("sum(a_total) + sum(rate(b_total[5m]))").raw == ("a_total",)


def test_filled() -> None:
    """`or vector(0)` is seen, in whatever place."""
    assert read_query("(sum(a) or vector(0)) * 2").filled
    assert not read_query("sum(a)").filled


@pytest.mark.parametrize("query", ["sum(a", "a b", "", "sum by (a)", ")", "a{", "{{ .Values.query }}", "(" * 5000])
def test_what_is_no_query(query: str) -> None:
    """Text that is no PromQL is refused, never guessed at."""
    with pytest.raises(PromQLError):
        read_query(query)


@given(st.text(alphabet="ab(){}[],:\"'=~!+-*/<> 0123456789\nsumorby_$", max_size=60))
def test_never_fails_otherwise(query: str) -> None:
    """Whatever the text, the reader answers or refuses."""
    with contextlib.suppress(PromQLError):
        read_query(query)
