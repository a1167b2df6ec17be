"""Paths in policy files: where a finding points, and which list a policy speaks of entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import items

_PLAIN: Final = re.compile(r"[A-Za-z_][\w-]*")
_STEP: Final = re.compile(r'\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\["([^"]+)"\]')


@dataclass(frozen=True, slots=True)
class Route:
    """A path that starts at a name: pod.volumes[0] is pod, then volumes, then 0."""

    start: str
    steps: tuple[Step, ...]


def parse(text: str) -> Route:
    """Read a path such as object.metadata.annotations["a/b"][0]; raise ValueError for anything else."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            msg = f"not a path: {text!r} at {text[place:]!r}"
            raise ValueError(msg)
        name, index, quoted = match.groups()
        steps.append(int(index) if index else name or quoted)
        place = match.end()
    if not steps or not isinstance(steps[0], str):
        msg = f"not a path: {text!r}"
        raise ValueError(msg)
    return Route(steps[0], tuple(steps[1:]))


def spelled(path: Sequence[Step]) -> str:
    """A path as policies, cases and reports spell it: spec.containers[0], metadata.annotations["a/b"]."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a list that a policy speaks of."""

    value: Any
    """The entry, as plain data."""
    path: tuple[Step, ...]
    """The names and indices that lead to it, without the name it starts at."""


@dataclass(frozen=True, slots=True)
class Each:
    """The entries of a list, or of lists inside lists: spec.containers[].env."""

    start: str
    segments: tuple[tuple[str, ...], ...]
    """The names between one list and the next."""

    def entries(self, data: Mapping[str, Any]) -> Iterator[Entry]:
        """Every entry, in order; nothing where a list is missing or is no list."""
        yield from _descend(data.get(self.start), self.segments, ())

    def any(self, data: Mapping[str, Any]) -> bool:
        """Whether there is an entry."""
        return next(self.entries(data), None) is not None


def parse_each(text: str) -> tuple[Each, ...]:
    """Read the `each` of a policy: one path, or several with commas; raise ValueError for anything else."""
    found = []
    for one in text.split(","):
        segments = [parse(part.removeprefix(".") or "_") for part in one.strip().split("[]") if part]
        names = [(part.start, *map(str, part.steps)) for part in segments]
        found.append(Each(names[0][0], (names[0][1:], *names[1:])))
    return tuple(found)


def _descend(value: Any, segments: tuple[tuple[str, ...], ...], path: tuple[Step, ...]) -> Iterator[Entry]:
    names, *rest = segments
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
        path = (*path, name)
    for index, entry in enumerate(items(value)):
        if rest:
            yield from _descend(entry, tuple(rest), (*path, index))
        else:
            yield Entry(entry, (*path, index))
