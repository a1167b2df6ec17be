"""The profile's overrides laid over a chart: the asked value is used, the plan's own stays in sight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from chartgen.catalog.engines import Engine
from chartgen.chart.types import Chart, Component
from chartgen.chart.values import join, leaves, override
from chartgen.kernel.decision import Decision, Json, Values, asked
from chartgen.kernel.errors import InputError, InputProblem, nearest_name
from chartgen.profile import LoadedProfile

FLAGS = "engine.flags."
"""Where an override may add a value that the plan does not have: a flag that the release knows."""


def with_overrides(chart: Chart, loaded: LoadedProfile, engine: Engine) -> Chart:
    """The chart with every override in place.

    Raises:
        InputError: an override names no value, or has another kind of value than the plan's.
    """
    values = join(chart.components)
    known = {".".join(path): decision for path, decision in leaves(values)}
    wanted = dict(_flat(loaded.profile.overrides or {}, values))
    problems = [problem for path, value in wanted.items() for problem in _problems(path, value, known, loaded, engine)]
    if problems:
        raise InputError(problems)
    components = chart.components
    for path, value in wanted.items():
        where = "--set" if ("overrides", path) in loaded.sets else loaded.file
        if path in known:
            components = tuple(_changed(component, path, value, where) for component in components)
        else:
            components = tuple(_added(component, path, value, where) for component in components)
    return replace(chart, components=components)


def _flat(overrides: Mapping[str, Json], values: Values, prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Overrides by whole path, whether written with dots or as nested groups."""
    for key, value in overrides.items():
        path = f"{prefix}{key}"
        group: Any = values
        for step in path.split("."):
            group = group.get(step) if isinstance(group, Mapping) else None
        if isinstance(group, Mapping) and isinstance(value, Mapping):
            yield from _flat(value, values, f"{path}.")
        else:
            yield path, value


def _problems(
    path: str, value: Json, known: Mapping[str, Decision[Json]], loaded: LoadedProfile, engine: Engine
) -> Iterator[InputProblem]:
    place = ("overrides", path)
    if path in known:
        planned = known[path].value
        if not _same_kind(value, planned):
            yield loaded.problem(place, found=repr(value), expected=f"the kind of value that {planned!r} is")
    elif path.startswith(FLAGS):
        name = f"--{path.removeprefix(FLAGS)}"
        if engine.flag(name) is None:
            expected = f"a flag that vLLM {engine.release} knows"
            near = nearest_name(name, engine.flags)
            yield loaded.problem(place, found=f"the flag {name}", expected=expected, nearest=near)
    else:
        near = nearest_name(path, known)
        expected = "a path of the chart's values.yaml, such as autoscaling.maxReplicas"
        yield loaded.problem(place, found=f"the unknown value {path!r}", expected=expected, nearest=near)


def _same_kind(value: Json, planned: Json) -> bool:
    if isinstance(planned, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(planned, bool)
    if isinstance(planned, float):
        return isinstance(value, int | float)
    return isinstance(value, type(planned))


def _changed(component: Component, path: str, value: Json, where: str) -> Component:
    changed: Values | None = override(component.values, tuple(path.split(".")), value, where)
    return component if changed is None else replace(component, values=changed)


def _added(component: Component, path: str, value: Json, where: str) -> Component:
    engine: Any = component.values.get("engine")
    if not isinstance(engine, Mapping) or not isinstance(engine.get("flags"), Mapping):
        return component
    name = path.removeprefix(FLAGS)
    decision: Decision[Json] = asked(value, f"Set in {where}. The plan alone does not give it")
    flags = {**engine["flags"], name: decision}
    return replace(component, values={**component.values, "engine": {**engine, "flags": flags}})
