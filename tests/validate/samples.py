"""The good objects, what breaks them, and the real programs that judge both."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from chartgen.kernel.yaml_source import Step, read

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MINORS = ("1.33", "1.34", "1.35", "1.36", "1.37")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """An object that the API takes."""

    object: Json
    since: str
    """The first minor that serves it."""

    @property
    def name(self) -> str:
        """Kind and name."""
        return f"{self.object['kind']} {self.object['metadata']['name']}"

    @property
    def minors(self) -> tuple[str, ...]:
        """The minors that serve it."""
        return tuple(minor for minor in MINORS if minor >= self.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A good object, broken in one way."""

    about: str
    object: Json
    at: tuple[Step, ...]
    code: str
    since: str
    by_values: bool
    """Whether no JSON Schema sees it."""
    server_takes_it: bool
    """Whether the API server lets it pass, though nobody means it."""
    also: tuple[tuple[Step, ...], ...] = field(default=())
    """Where the same change breaks something else too."""

    @property
    def minors(self) -> tuple[str, ...]:
        """The minors that serve the object."""
        return tuple(minor for minor in MINORS if minor >= self.since)


def _read(name: str) -> list[Json]:
    (document,) = read((HERE / name).read_text(encoding="utf-8"), name)
    entries: list[Json] = document.value
    return entries


@cache
def good() -> tuple[Good, ...]:
    """Every object of good.yaml."""
    return tuple(Good(object=entry["object"], since=entry.get("from", MINORS[0])) for entry in _read("good.yaml"))


@cache
def bad() -> tuple[Bad, ...]:
    """Every object of bad.yaml."""
    return tuple(_bad())


def _bad() -> Iterator[Bad]:
    originals = {sample.name: sample for sample in good()}
    for entry in _read("bad.yaml"):
        original = originals[entry["of"]]
        broken = copy.deepcopy(original.object)
        changes = dict(entry.get("set", {}))
        for dotted, value in changes.items():
            *above, last = steps(dotted, broken)
            _at(broken, above)[last] = value
        if "drop" in entry:
            *above, last = steps(entry["drop"], broken)
            del _at(broken, above)[last]
        changed = next(iter(changes), entry.get("drop", ""))
        yield Bad(
            about=entry["about"],
            object=broken,
            at=steps(entry.get("at", changed), broken),
            code=entry["code"],
            since=entry.get("from", original.since),
            by_values=entry.get("by") == "values",
            server_takes_it=entry.get("server") == "takes it",
            also=tuple(steps(dotted, broken) for dotted in entry.get("also", [])),
        )


def steps(dotted: str, content: Any) -> tuple[Step, ...]:
    """A dotted path as steps; a key of the object may hold dots itself, so the longest one that is there wins."""
    result: list[Step] = []
    parts = dotted.split(".") if dotted else []
    while parts:
        if isinstance(content, list):
            step: Step = int(parts.pop(0))
            content = content[int(step)]
        else:
            length = next((n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in (content or {})), 1)
            step = ".".join(parts[:length])
            parts = parts[length:]
            content = (content or {}).get(step)
        result.append(step)
    return tuple(result)


def _at(content: Any, path: list[Step]) -> Any:
    for step in path:
        content = content[step]
    return content


@cache
def tool(name: str) -> Path:
    """The path of a pinned program; a missing one fails the test that asks for it."""
    command = [sys.executable, str(ROOT / "scripts" / "tools"), "path", name]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return Path(run.stdout.strip())
