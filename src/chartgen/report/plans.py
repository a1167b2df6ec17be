"""A plan as text for a terminal and as JSON for a pipeline."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from chartgen.chart.types import Chart
from chartgen.chart.values import join, leaves
from chartgen.kernel.decision import Decision
from chartgen.kernel.errors import InputError, InputProblem, nearest_name
from chartgen.memory.fit import Fit
from chartgen.report import bars, fits

_WIDTH: Final = 100
_INDENT: Final = "      "


def rows(chart: Chart) -> Iterator[tuple[str, Decision[Any]]]:
    """Every decision by its name: the ones that explain the chart, then its values by path."""
    yield from chart.decisions
    for path, decision in leaves(join(chart.components)):
        yield ".".join(path), decision


def as_text(chart: Chart, fit: Fit) -> str:
    """The memory of each GPU as a bar, then every decision with its reason, grouped as values.yaml is."""
    return "\n".join(_text(chart, fit))


def _text(chart: Chart, fit: Fit) -> Iterator[str]:
    yield f"{chart.name}: {chart.description}"
    yield ""
    yield from bars.lines(fit)
    yield ""
    group = ""
    for name, decision in rows(chart):
        head = name.split(".")[0] if "." in name else ""
        if head != group:
            group = head
            yield ""
        yield from _row(name, decision)


def _row(name: str, decision: Decision[Any]) -> Iterator[str]:
    yield f"  {name}: {shown(decision)}"
    text = f"{decision.because} ({decision.origin})"
    yield from textwrap.wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)


def as_json(chart: Chart, fit: Fit) -> str:
    """The memory of each GPU, and every decision: value, because, origin, what the plan alone gives."""
    data = {"name": chart.name, "description": chart.description, "vllm": chart.app_version}
    decisions = {name: _as_data(decision) for name, decision in rows(chart)}
    whole = {**data, "memory": fits.memory(fit), "decisions": decisions, "notes": chart.notes}
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _as_data(decision: Decision[Any]) -> dict[str, Any]:
    data = {"value": decision.value, "because": decision.because, "origin": decision.origin}
    return data | ({"alone": _as_data(decision.alone)} if decision.alone else {})


def why(chart: Chart, name: str, form: str) -> str:
    """One decision, or all below a group such as autoscaling.

    Raises:
        InputError: the plan has no such name.
    """
    known = dict(rows(chart))
    found = {path: one for path, one in known.items() if path == name or path.startswith(f"{name}.")}
    if not found:
        problem = InputProblem(
            file="--why",
            position=None,
            path="",
            found=repr(name),
            expected="a value of the chart, such as autoscaling.minReplicas",
            nearest=nearest_name(name, known),
        )
        raise InputError([problem])
    if form == "json":
        return json.dumps({path: _as_data(one) for path, one in found.items()}, indent=2, ensure_ascii=False)
    return "\n".join(line for path, one in found.items() for line in _row(path, one))


def shown(decision: Decision[Any]) -> str:
    """A value as one line."""
    value = decision.value
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
