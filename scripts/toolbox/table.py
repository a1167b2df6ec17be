"""The table of pinned tools: `scripts/tools.toml` as types."""

from __future__ import annotations

import difflib
import platform
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

SCRIPTS: Final = Path(__file__).resolve().parent.parent
"""The folder that holds the table and the Go modules."""


class ToolError(Exception):
    """A tool cannot be had. Carries what failed, the end of what the failing program said, and what to do."""

    def __init__(self, what: str, *, advice: str, output: Sequence[str] = (), status: int = 1) -> None:
        self.what = what
        self.advice = advice
        self.output = tuple(output)
        self.status = status
        """The exit code: 1 for a tool that failed, 2 for a name that is not in the table."""
        super().__init__(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A program inside a wheel of the Python package registry."""

    wheel: str
    """The exact requirement: name==version."""
    member: str
    """The file in the wheel, `!` between nested archives; or a folder, ending in `/`."""
    sha256: Mapping[str, str]
    """The wheel's checksum by machine; other machines are not served."""

    def serves(self, machine: str) -> bool:
        """Whether this source holds a program for the machine."""
        return machine in self.sha256

    def recipe(self) -> bytes:
        """All that decides what is installed."""
        return repr((self.wheel, self.member, sorted(self.sha256.items()))).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoBuild:
    """Programs that are built from source in a Go module of their own."""

    go: Path
    """The folder of go.mod (every version) and go.sum (every checksum)."""
    packages: Mapping[str, str]
    """The file to build, and the Go package it is built from."""
    seconds: int
    """How long a build took on 2 cores with nothing cached; shown while the user waits."""
    tags: Sequence[str] = ()
    """Go build tags."""
    set: Sequence[str] = ()
    """Package variables set by the linker, so that the program knows its own version."""

    def serves(self, machine: str) -> bool:
        """Whether this source works on the machine: Go builds for every machine that has Go."""
        return bool(machine)

    def recipe(self) -> bytes:
        """All that decides what is installed."""
        modules = [(self.go / name).read_text(encoding="utf-8") for name in ("go.mod", "go.sum")]
        return repr((sorted(self.packages.items()), *self.tags, *self.set, *modules)).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleFiles:
    """Files of a Go module: data, not programs."""

    module: str
    """The module and its version: path@version."""
    files: str
    """Which files, as a pattern in the module."""
    sum: str
    """The module's checksum, as a go.sum states it."""

    def serves(self, machine: str) -> bool:
        """Whether this source works on the machine: files are the same everywhere."""
        return bool(machine)

    def recipe(self) -> bytes:
        """All that decides what is installed."""
        return repr((self.module, self.files, self.sum)).encode()


Source = Wheel | GoBuild | ModuleFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One row of the table: what is installed, verified and removed as a whole."""

    name: str
    """How the user names it."""
    version: str
    """The pinned version."""
    group: str
    """The set it is installed with: test, cluster or build."""
    about: str
    """What it is, in a few words."""
    home: str
    """Where its source lives."""
    licence: str
    """Its licence, as an SPDX expression."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """The commands it brings, each with its file; none for a folder of data."""
    check: Sequence[str] = ()
    """Arguments that make each program say its version."""
    sources: Sequence[Source]
    """Where it comes from; the first that serves the machine is taken."""
    expect: str = field(default="")
    """What the check must print; the version when nothing else is said."""

    @property
    def label(self) -> str:
        """Name and version, as messages say it."""
        return f"{self.name} {self.version}"

    def source(self, machine: str) -> Source:
        """The source for a machine, or a ToolError that says which machines are served."""
        for source in self.sources:
            if source.serves(machine):
                return source
        served = [name for source in self.sources if isinstance(source, Wheel) for name in source.sha256]
        raise ToolError(
            f"{self.label}: no source for {machine}",
            advice=f"use one of {', '.join(served)}, or install {self.name} yourself from {self.home}",
        )


@dataclass(frozen=True, slots=True)
class Table:
    """All tools, by name."""

    tools: Mapping[str, Tool]

    def groups(self) -> list[str]:
        """The groups that a user can ask for."""
        return sorted({tool.group for tool in self.tools.values()})

    def of_group(self, group: str) -> list[Tool]:
        """The tools of a group in table order; of every group but `build` for `all`."""
        return [
            tool for tool in self.tools.values() if tool.group == group or (group == "all" and tool.group != "build")
        ]

    def find(self, name: str) -> Tool:
        """The tool of that name, or that brings a command of that name."""
        for tool in self.tools.values():
            if name == tool.name or name in tool.programs:
                return tool
        commands = [command for tool in self.tools.values() for command in tool.programs]
        raise unknown("tool", name, [*self.tools, *commands])


def unknown(kind: str, name: str, known: Iterable[str]) -> ToolError:
    """The error for a name that is not in the table, with the nearest one that is."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    advice = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
    return ToolError(f"unknown {kind} {name!r}", advice=advice, status=2)


def load(path: Path = SCRIPTS / "tools.toml") -> Table:
    """Read the table; Go folders are beside it, under `go/`. A mistake in it is ours, so it just raises."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return Table({name: _tool(name, row, path.parent / "go") for name, row in rows.items()})


def _tool(name: str, row: dict[str, Any], modules: Path) -> Tool:
    sources = [_source(source, modules) for source in row.pop("source")]
    return Tool(name=name, sources=tuple(sources), **{"expect": row["version"], **row})


def _source(row: dict[str, Any], modules: Path) -> Source:
    if "wheel" in row:
        return Wheel(**row)
    if "module" in row:
        return ModuleFiles(**row)
    return GoBuild(**{**row, "go": modules / row["go"]})


def this_machine() -> str:
    """The machine as the table names it: linux-x86_64, linux-aarch64, darwin-arm64."""
    return f"{platform.system().lower()}-{platform.machine()}"
