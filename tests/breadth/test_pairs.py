"""Rows that hold every pair: all that can be held are, those that cannot are named, and none is forgotten."""

from __future__ import annotations

from itertools import combinations, product

from breadth.pairs import Axis, Covering, Row, pairs_of

AXES = [
    Axis(name="shape", values=("round", "square", "flat"), easy=("flat",)),
    Axis(name="colour", values=("red", "green", "blue", "none"), easy=("none",)),
    Axis(name="size", values=("small", "large"), easy=("small", "large")),
    Axis(name="weight", values=("light", "heavy", "none"), easy=("none", "heavy")),
]


def refusal(row: Row) -> str | None:
    """Nothing round is red, nothing large is light, and a square of a colour is heavy."""
    shape, colour, size, weight = row
    if (shape, colour) == ("round", "red"):
        return "round and red"
    if (size, weight) == ("large", "light"):
        return "large and light"
    return "a light square" if shape == "square" and colour != "none" and weight != "heavy" else None


def test_every_pair_is_held_or_impossible() -> None:
    """Of all rows that can be, the chosen few hold the same pairs; the others are impossible, with their reason."""
    covering = Covering(AXES, refusal)
    rows = list(covering.rows())
    every = list(product(*(axis.values for axis in AXES)))
    possible = {pair for row in every if refusal(row) is None for pair in pairs_of(row)}
    assert {pair for row in rows for pair in pairs_of(row)} == possible
    assert {pair for row in every for pair in pairs_of(row)} - possible == set(covering.impossible)
    assert [row for row in rows if refusal(row)] == []
    assert not covering.open
    assert covering.impossible[0, "round", 1, "red"] == "round and red"
    assert covering.impossible[2, "large", 3, "light"] == "large and light"


def test_few_rows_do() -> None:
    """Without refusals little more than the product of the two longest axes is needed."""
    rows = list(Covering(AXES, lambda _: None).rows())
    longest, second = sorted((len(axis.values) for axis in AXES), reverse=True)[:2]
    assert longest * second <= len(rows) <= longest * second + 3
    assert len(set(rows)) == len(rows)


def test_the_choice_is_always_the_same() -> None:
    """Two choices give the same rows in the same order."""
    assert list(Covering(AXES, refusal).rows()) == list(Covering(AXES, refusal).rows())


def test_pairs_of_a_row() -> None:
    """A row of four values holds six pairs."""
    row = ("flat", "red", "small", "heavy")
    assert len(set(pairs_of(row))) == len(list(combinations(row, 2)))
