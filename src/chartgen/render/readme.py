"""The chart's README: what it is, what it needs, and every decision with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from chartgen.chart.types import Chart
from chartgen.chart.values import leaves
from chartgen.kernel.decision import Decision, Values

_LONG: Final = 60


def readme(chart: Chart, values: Values) -> str:
    """The whole README as Markdown."""
    return "\n".join(_lines(chart, values)) + "\n"


def _lines(chart: Chart, values: Values) -> Iterator[str]:
    yield f"# {chart.name}"
    yield ""
    yield f"{escaped(chart.description)}."
    yield f"Installs on Kubernetes {chart.oldest_kubernetes} or newer; checked against {chart.kubernetes}."
    yield ""
    yield "```sh"
    yield f"helm install {chart.name} . --namespace {chart.namespace} --create-namespace"
    yield f"helm test {chart.name} --namespace {chart.namespace}"
    yield "```"
    yield ""
    yield "## What was decided, and why"
    yield ""
    yield "| decision | value | why | rests on |"
    yield "|---|---|---|---|"
    for title, decision in chart.decisions:
        yield _row(title, decision)
    if chart.notes:
        yield ""
        yield "## What the chart cannot set itself"
        yield ""
        for note in chart.notes:
            yield f"- {escaped(note)}"
    if chart.advice:
        yield ""
        yield "## What helps, and is not needed"
        yield ""
        for advice in chart.advice:
            yield f"- {escaped(advice)}"
    yield ""
    yield "## What its namespace must allow"
    yield ""
    yield "Where a ResourceQuota counts one of these, it must leave as much for the release at its largest:"
    yield ""
    yield "| resource | amount | why | rests on |"
    yield "|---|---|---|---|"
    for resource, decision in chart.quota.items():
        yield _row(f"`{resource}`", decision)
    yield ""
    for limit in chart.limits:
        yield f"- {escaped(limit)}"
    yield ""
    yield "## Values"
    yield ""
    yield "| value | default | why | rests on |"
    yield "|---|---|---|---|"
    for path, decision in leaves(values):
        if path != ("notes",):
            yield _row(f"`{'.'.join(path)}`", decision)


def _row(name: str, decision: Decision[Any]) -> str:
    return f"| {name} | {_shown(decision.value)} | {escaped(decision.because)} | {decision.origin} |"


def _shown(value: Any) -> str:
    if value in ("", [], {}):
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) > _LONG:
        return "see values.yaml"
    return f"`{escaped(text, code=True)}`"


def escaped(text: str, *, code: bool = False) -> str:
    """Text that cannot leave its table cell, and is read as text by a Markdown reader."""
    flat = " ".join(text.split()).replace("|", "\\|")
    if code:
        return flat.replace("`", "'")
    for character in "<[*_`":
        flat = flat.replace(character, f"\\{character}")
    return flat
