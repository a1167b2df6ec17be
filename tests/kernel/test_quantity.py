"""Quantities and durations as exact numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chartgen.kernel.quantity import duration, quantity

QUANTITIES = [
    ("0", 0), ("2", 2), ("2.5", Fraction(5, 2)), (".5", Fraction(1, 2)), ("5.", 5), ("+3", 3), ("-1", -1),
    ("500m", Fraction(1, 2)), ("1u", Fraction(1, 10**6)), ("1n", Fraction(1, 10**9)),
    ("1k", 1000), ("1M", 10**6), ("1G", 10**9), ("1T", 10**12), ("1P", 10**15), ("1E", 10**18),
    ("1Ki", 2**10), ("1Mi", 2**20), ("64Gi", 64 * 2**30), ("1Ti", 2**40), ("1Pi", 2**50), ("1Ei", 2**60),
    ("1e3", 1000), ("1E3", 1000), ("12e-1", Fraction(6, 5)), (4, 4), (0.5, Fraction(1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), QUANTITIES)
def test_reads_every_form(text: object, value: object) -> None:
    """Each suffix and exponent stands for its own factor."""
    assert quantity(text) == value


@pytest.mark.parametrize(
    "text",
    ["64GB", "64 Gi", "64gi", "64KI", "1mm", "Gi", "", "1e", "1ee3", "0x10", "1_000", None, True, [], "1e999999"],
)
def test_what_is_no_quantity(text: object) -> None:
    """Anything else is none, and costs nothing."""
    assert quantity(text) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("10s", 10), ("1h30m", 5400), ("500ms", Fraction(1, 2)), ("1m500ms", Fraction(121, 2))],
)
def test_reads_durations(text: str, seconds: object) -> None:
    """Each unit stands for its own seconds."""
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "10 s", "1d", "-1s", "1.5s", None, 10])
def test_what_is_no_duration(text: object) -> None:
    """Anything else is none."""
    assert duration(text) is None
