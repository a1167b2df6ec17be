"""What every chart has: helpers, notes and a test."""

from __future__ import annotations

from chartgen.chart.types import Component
from chartgen.kernel.decision import Json, worked_out
from chartgen.plan.types import Plan


def common(plan: Plan) -> Component:
    """Names, labels, and what the reader is told after an install."""
    notes: list[Json] = list(plan.notes)
    return Component(
        name="common",
        templates=("_helpers.tpl", "_query.tpl", "NOTES.txt"),
        values={"notes": worked_out(notes, "What the chart cannot set itself; printed after an install")},
    )


def tests(plan: Plan) -> Component:
    """A pod for `helm test` that asks for a streamed answer."""
    del plan
    return Component(name="tests", templates=("answer.yaml",), files=("ask.py",), values={})
