"""From a rendered line back to the template and the value that made it, as near as can be told.

Helm keeps no source map. A rendered line is looked up among the lines of its own template, then of the chart's
partials: word for word, or with what stands in braces left open. Where several fit, the lines above decide. A line that
no template holds came out of a value as a whole; then the nearest key above it that a template does hold is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, Position
from chartgen.kernel.yaml_source import Document, Step, Text, read
from chartgen.lint.manifest import Manifest, Place
from chartgen.lint.paths import spelled

_BRACES: Final = re.compile(r"\{\{.*?\}\}")
_VALUE: Final = re.compile(r"\.Values\.([A-Za-z_][\w]*(?:\.[A-Za-z_][\w]*)*)")


@dataclass(frozen=True, slots=True)
class _Line:
    file: str
    number: int
    text: str
    pattern: re.Pattern[str] | None

    def makes(self, rendered: str) -> bool:
        """Whether the line can have made a rendered one."""
        return self.pattern.fullmatch(rendered) is not None if self.pattern else self.text == rendered


class ChartSource:
    """The templates and values of one chart, by the names that a reader knows them by."""

    def __init__(self, name: str, templates: Mapping[str, str], values: str | None) -> None:
        self.name = name
        self.texts: Mapping[str, Text] = {file: Text(content) for file, content in templates.items()}
        self._values_text = values

    @property
    def values_file(self) -> str:
        """The chart's values.yaml, as a reader knows it."""
        return f"{self.name}/values.yaml"

    @cached_property
    def values(self) -> Document | None:
        """The chart's own values, with positions; None when it has none that can be read."""
        if self._values_text is None:
            return None
        try:
            return next(iter(read(self._values_text, self.values_file)), None)
        except InputError:
            return None

    @cached_property
    def _lines(self) -> Mapping[str, tuple[_Line, ...]]:
        return {file: tuple(_readable(file, text.content)) for file, text in self.texts.items()}

    @cached_property
    def _partials(self) -> tuple[_Line, ...]:
        return tuple(line for file, lines in self._lines.items() if file.endswith(".tpl") for line in lines)

    def place(self, manifest: Manifest, path: Sequence[Step]) -> Place:
        """Where a reader would change the entry at `path` of a rendered object."""
        rendered = manifest.document.text.content.splitlines()
        for length in range(len(path), -1, -1):
            number = manifest.document.position(path[:length]).line
            line = self._find(manifest.file, rendered, number)
            if line is not None:
                return self._shown(line, path, length)
        first = manifest.document.position(path)
        return Place(
            file=manifest.file, position=Position(line=1, column=1), note=f"line {first.line} of what it renders to"
        )

    def _find(self, file: str, rendered: Sequence[str], number: int) -> _Line | None:
        """The template line that made a rendered one."""
        wanted = rendered[number - 1].strip() if number <= len(rendered) else ""
        if not wanted or wanted == "---":
            return None
        for lines in (self._lines.get(file, ()), self._partials):
            fitting = [line for line in lines if line.makes(wanted)]
            if fitting:
                return max(fitting, key=lambda line: self._context(line, rendered, number))
        return None

    def _context(self, line: _Line, rendered: Sequence[str], number: int) -> tuple[int, int, int]:
        """How well the lines above agree, then how literal the line is, then how early it stands."""
        above = [one for one in self._lines[line.file] if one.number < line.number][-4:]
        before = [text.strip() for text in rendered[max(number - 5, 0) : number - 1]]
        agreeing = sum(any(one.makes(text) for text in before) for one in above)
        return agreeing, line.pattern is None, -line.number

    def _shown(self, line: _Line, path: Sequence[Step], length: int) -> Place:
        raw = self.texts[line.file].content.splitlines()[line.number - 1]
        column = len(raw) - len(raw.lstrip()) + 1
        position = Position(line=line.number, column=column)
        return Place(file=line.file, position=position, note=self._value(line, path[length:]))

    def _value(self, line: _Line, rest: Sequence[Step]) -> str:
        """The value that fed the line, in words, with its place in values.yaml."""
        found = _VALUE.search(line.text)
        if found is None and rest:
            # The block below the key is filled in as a whole: toYaml .Values.x on the next line.
            following = self.texts[line.file].content.splitlines()[line.number : line.number + 1]
            found = _VALUE.search(following[0]) if following and following[0].lstrip().startswith("{{") else None
        if found is None or self.values is None:
            return ""
        steps: list[Step] = [*found[1].split("."), *rest]
        while steps and self.values.offsets(steps) is None:
            steps.pop()
        if not steps:
            return ""
        return f"value {spelled(steps)}, {self.values_file}:{self.values.position(steps).line}"


def _readable(file: str, content: str) -> Iterator[_Line]:
    """The lines of a template that leave something behind when rendered."""
    for number, raw in enumerate(content.splitlines(), 1):
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        literal = _BRACES.sub("", text).strip(" -\"'")
        if "{{" not in text:
            yield _Line(file, number, text, None)
        elif literal and "}}" in text:
            parts = [re.escape(part) for part in _BRACES.split(text)]
            yield _Line(file, number, text, re.compile(".*".join(parts)))
