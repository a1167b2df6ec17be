"""Failures as text: nothing is said twice."""

from __future__ import annotations

import pytest

from chartgen.kernel.errors import Attempt, Infeasible
from chartgen.render.check import Complaint, Rejected
from chartgen.report.problems import infeasible, rejected

SHORT = "3.1 GiB short of one 8k request"


@pytest.mark.parametrize(
    ("tried", "lines"),
    [
        ([], [f"a model: nothing fits: {SHORT}"]),
        ([("1 x L4", SHORT)], [f"a model: nothing fits: {SHORT}"]),
        ([("1 x L4", "9 GiB short"), ("2 x L4", SHORT)], [f"a model: nothing fits: {SHORT}", "  1 x L4  9 GiB short"]),
        ([("1 x L4", "9 GiB short")], [f"a model: nothing fits: {SHORT}", "  1 x L4  9 GiB short"]),
    ],
)
def test_no_reason_is_given_twice(tried: list[tuple[str, str]], lines: list[str]) -> None:
    """The reason of the last attempt stands in the first line and is left out of the table."""
    attempts = [Attempt(option=option, because=because) for option, because in tried]
    error = Infeasible(subject="a model", missing=SHORT, tried=attempts, nearest="gpu: 1 x L40S")
    assert infeasible(error).splitlines() == [*lines, "  nearest that fits: gpu: 1 x L40S"]


def test_the_verdict_on_a_chart_is_the_callers() -> None:
    """Render says that nothing is written, validate that it is not valid."""
    complaints = (Complaint(by="schema", where="a.yaml", says="no"),)
    assert rejected(Rejected("a", complaints)) == "a: nothing is written, as a check refuses it\n  schema: a.yaml: no"
    assert str(rejected(Rejected("a", complaints, "not valid"))).startswith("a: not valid, as a check refuses it\n")
    assert rejected(ValueError("a")) is None
