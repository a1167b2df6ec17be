"""The cache: one folder per tool, version and recipe, complete or not there at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolbox.table import Table, Tool, ToolError


def place(environment: Mapping[str, str]) -> Path:
    """Where the cache is: $CHARTGEN_TOOLS, else chartgen/tools under the user's cache folder."""
    if environment.get("CHARTGEN_TOOLS"):
        return Path(environment["CHARTGEN_TOOLS"]).absolute()
    base = environment.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(base) / "chartgen" / "tools"


@dataclass(frozen=True, slots=True)
class Cache:
    """Installed tools under `root`. A tool's folder appears by one rename, so it is never half there."""

    root: Path
    """The folder, made when it is first written to."""
    machine: str
    """The machine the tools are for, as the table names it."""

    def folder(self, tool: Tool) -> Path:
        """The tool's folder. A changed recipe has another folder, so nothing stale is ever used."""
        recipe = hashlib.sha256(repr(sorted(tool.programs.items())).encode())
        recipe.update(tool.source(self.machine).recipe())
        return self.root / tool.name / f"{tool.version}-{recipe.hexdigest()[:10]}"

    def programs(self, tool: Tool, folder: Path | None = None) -> dict[str, Path]:
        """The tool's commands and their files, in its place or in another folder."""
        base = folder or self.folder(tool)
        return {command: base / file for command, file in tool.programs.items()}

    def found(self, tool: Tool) -> dict[str, Path]:
        """What `path` can name: the tool's commands, or the tool itself when it is a folder of data."""
        return self.programs(tool) or {tool.name: self.folder(tool)}

    def missing(self, tool: Tool) -> list[str]:
        """What cannot be used from the cache; nothing when the tool is installed."""
        return [name for name, path in self.found(tool).items() if not os.access(path, os.X_OK)]

    @contextmanager
    def writing(self, tool: Tool, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the tool's lock: two runs never build the same thing. `waiting` is called if we must."""
        try:
            (self.root / "locks").mkdir(parents=True, exist_ok=True)
            lock = (self.root / "locks" / tool.name).open("w")
        except OSError as error:
            advice = "set CHARTGEN_TOOLS to a folder that can be written"
            what = f"the cache folder {self.root} cannot be written: {error}"
            raise ToolError(what, advice=advice) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def partial(self, tool: Tool) -> Iterator[Path]:
        """A folder to build in. What an earlier run left half built is removed, and this one always is."""
        yard = self.root / "partial" / tool.name
        shutil.rmtree(yard, ignore_errors=True)
        yard.mkdir(parents=True)
        try:
            yield Path(tempfile.mkdtemp(dir=yard))
        finally:
            shutil.rmtree(yard, ignore_errors=True)

    def keep(self, tool: Tool, built: Path) -> None:
        """Put a built and verified folder in its place, by one rename."""
        place = self.folder(tool)
        if place.exists():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        built.chmod(0o755)
        built.rename(place)

    def log(self, tool: Tool) -> Path:
        """The file that holds everything the tool's last build printed."""
        path = self.root / "logs" / f"{tool.name}-{tool.version}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def links(self, table: Table) -> Path:
        """A folder of links to every installed command, for PATH. Other pins have another folder."""
        served = [tool for tool in table.tools.values() if any(s.serves(self.machine) for s in tool.sources)]
        pins = hashlib.sha256("".join(str(self.folder(tool)) for tool in served).encode())
        folder = self.root / "bin" / pins.hexdigest()[:10]
        folder.mkdir(parents=True, exist_ok=True)
        for tool in served:
            if tool.group != "build" and not self.missing(tool):
                for command, path in self.programs(tool).items():
                    _link(folder / command, path)
        return folder


def _link(link: Path, target: Path) -> None:
    """Point a link at its target in one step, whoever else does the same."""
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)
