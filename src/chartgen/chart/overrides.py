"""The profile's overrides laid over a chart: the asked value is used, the plan's own stays in sight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chartgen.chart.types import Chart, Component
from chartgen.chart.values import join, leaves, override
from chartgen.kernel.decision import Decision, Json, Values
from chartgen.kernel.errors import InputError, InputProblem, nearest_name
from chartgen.profile import LoadedProfile


def with_overrides(chart: Chart, loaded: LoadedProfile) -> Chart:
    """The chart with every override in place.

    Raises:
        InputError: an override names no value, or has another kind of value than the plan's.
    """
    overrides = loaded.profile.overrides or {}
    known = {".".join(path): decision for path, decision in leaves(join(chart.components))}
    problems = list(_problems(overrides, known, loaded))
    if problems:
        raise InputError(problems)
    components = chart.components
    for path, asked in overrides.items():
        components = tuple(_applied(component, path, asked, loaded.file) for component in components)
    return replace(chart, components=components)


def _problems(
    overrides: dict[str, Json], known: dict[str, Decision[Json]], loaded: LoadedProfile
) -> Iterator[InputProblem]:
    for path, asked in overrides.items():
        place = ("overrides", path)
        if path not in known:
            near = nearest_name(path, known)
            yield loaded.problem(
                place, found=f"the unknown value {path!r}", expected="a path of the chart's values.yaml", nearest=near
            )
        elif not _same_kind(asked, known[path].value):
            value = known[path].value
            yield loaded.problem(place, found=repr(asked), expected=f"the kind of value that {value!r} is")


def _same_kind(asked: Json, planned: Json) -> bool:
    if isinstance(planned, bool) or isinstance(asked, bool):
        return isinstance(asked, bool) and isinstance(planned, bool)
    if isinstance(planned, float):
        return isinstance(asked, int | float)
    return isinstance(asked, type(planned))


def _applied(component: Component, path: str, asked: Json, file: str) -> Component:
    changed: Values | None = override(component.values, tuple(path.split(".")), asked, file)
    return component if changed is None else replace(component, values=changed)
