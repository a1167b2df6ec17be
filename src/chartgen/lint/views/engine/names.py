"""Words that only some releases know: parsers, formats and variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from chartgen.catalog import engine_fold
from chartgen.catalog.command_types import CommandLine, Reading
from chartgen.catalog.engines import Engine
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import nearest_name
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import mappings
from chartgen.lint.servers import words_of
from chartgen.lint.unknown import Unknown
from chartgen.lint.views.engine.command import place_of
from chartgen.lint.views.engine.container import Container
from chartgen.lint.views.engine.release import ReleaseView, reading_engine

_SETS: Final[Mapping[str, Callable[[Engine], Collection[str]]]] = {
    "--quantization": lambda engine: engine.quantizations,
    "--kv-cache-dtype": lambda engine: engine.kv_dtypes,
    "--tool-call-parser": lambda engine: engine.tool_parsers,
    "--reasoning-parser": lambda engine: engine.reasoning_parsers,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWord:
    """A value that the release does not have."""

    option: str
    """The option: --tool-call-parser."""
    value: str
    """The value as written."""
    near: str
    """The nearest value that the release has; empty when none is like it."""
    at: tuple[Step, ...]
    """Where the option stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadVariable:
    """A variable that another release reads, and this one does not."""

    name: str
    """The variable."""
    at: tuple[Step, ...]
    """Where it stands."""


def unknown_words(reading: Reading | None, release: ReleaseView, container: Container) -> tuple[UnknownWord, ...]:
    """The values that the image's release does not have; none when the release is not certain."""
    if not isinstance(reading, CommandLine) or isinstance(release.version, Unknown) or release.vendor:
        return ()
    engine = reading_engine(release)
    plugin = reading.given("--tool-parser-plugin") or reading.given("--reasoning-parser-plugin")
    found = []
    for option, names in _SETS.items():
        argument, known = reading.given(option), names(engine)
        value = argument.value if argument else None
        if argument and isinstance(value, str) and known and value not in {*known, "auto", "None"}:
            if plugin and option.endswith("parser"):
                continue
            near = nearest_name(value, known) or ""
            at = place_of(argument.place, container)
            found.append(UnknownWord(option=option, value=value, near=near, at=at))
    return tuple(found)


def dead_variables(release: ReleaseView, container: Container) -> tuple[DeadVariable, ...]:
    """The engine variables that have no effect on this release, though another one reads them."""
    if isinstance(release.version, Unknown) or release.vendor:
        return ()
    engine = reading_engine(release)
    ever = engine_fold.committed()["environment"]
    words = " ".join(words_of(container.value))
    found = []
    for index, entry in enumerate(mappings(container.value.get("env"))):
        name = str(entry.get("name"))
        used = re.search(rf"\$[({{]?{re.escape(name)}\b", words)
        if name in ever and name not in engine.env and not used:
            found.append(DeadVariable(name=name, at=(*container.path, "env", index)))
    return tuple(found)
