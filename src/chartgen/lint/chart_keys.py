"""The values keys that a chart knows: those of its values.yaml and its schema, and those that its templates read.

Go templates are read action by action, with the scopes of `with` and `range`. A key that is passed on as a whole
(toYaml, tpl, include, a variable) may be read to any depth, so everything below it counts as known. What is given and
known by nobody is told with its place; a chart that passes all of `.Values` on is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Final

from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, nearest_name
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.kernel.yaml_source import Document, Step, read
from chartgen.lint.manifest import IgnoredKey, at, mapping, mappings
from chartgen.lint.template_keys import EACH, Path, template_keys
from chartgen.validate import chart_files

_ALWAYS: Final = ("global", "tags")
"""Helm's own keys (helm.sh/docs/chart_template_guide/subcharts_and_globals)."""
_DEEPEST: Final = 8
"""A schema is read no deeper: below, every key counts as known."""


@dataclass(slots=True)
class KnownKeys:
    """The keys that a chart knows."""

    chart: str
    """The chart, as messages speak of it."""
    names: dict[Path, set[str]] = field(default_factory=dict)
    """The known keys below each known key; those of the top stand below the empty path."""
    open: set[Path] = field(default_factory=set)
    """Keys below which everything may be read."""

    def add(self, path: Path) -> None:
        """Know a key, and those above it."""
        for length, name in enumerate(path):
            self.names.setdefault(path[:length], set()).add(name)

    def ignored(self, values: Document) -> Iterator[IgnoredKey]:
        """The keys of a values file that the chart does not know. Values may hold templates that read each other."""
        if () not in self.open:
            for path in template_keys([values.text.content]).read:
                self.add(path)
            yield from self._below(mapping(values.value), (), ())

    def _below(self, given: Mapping[str, Any], above: Path, where: tuple[Step, ...]) -> Iterator[IgnoredKey]:
        names = self.names.get(above, set())
        for key, value in given.items():
            path, here = (*above, str(key)), (*where, key)
            if value is None or path in self.open:
                continue
            if str(key) not in names:
                yield IgnoredKey(key=_spelled(path), near=self._near(path), chart=self.chart, at=here)
            else:
                yield from self._inside(value, path, here)

    def _inside(self, value: Any, path: Path, where: tuple[Step, ...]) -> Iterator[IgnoredKey]:
        each = (*path, EACH)
        if isinstance(value, dict) and path in self.names and EACH not in self.names[path]:
            yield from self._below(value, path, where)
        elif isinstance(value, list) and each in self.names and each not in self.open:
            for index, entry in enumerate(value):
                yield from self._below(mapping(entry), each, (*where, index))

    def _near(self, path: Path) -> str:
        """The key that was meant: one like it beside it, else one of its name elsewhere."""
        beside = nearest_name(path[-1], self.names.get(path[:-1], set()))
        if beside is not None:
            return _spelled((*path[:-1], beside))
        elsewhere = [
            (*above, path[-1])
            for above, names in self.names.items()
            if path[-1] in names and (len(path) == 1 or above[:1] == path[:1])
        ]
        return _spelled(elsewhere[0]) if len(elsewhere) == 1 else ""


def _spelled(path: Path) -> str:
    return ".".join(path).replace(f".{EACH}", EACH)


def known_keys(files: Mapping[str, bytes]) -> KnownKeys:
    """What a chart knows, by the files of its folder or archive."""
    files = {**files, **_unpacked(files)}
    texts = {name: content.decode("utf-8", "replace") for name, content in files.items()}
    known = KnownKeys(chart=_name(_first(texts.get("Chart.yaml", ""))))
    known.open.update((name,) for name in (*_ALWAYS, *_subcharts(texts)))
    templates = template_keys(
        text for name, text in texts.items() if "{{" in text and not name.endswith((".md", ".json", "values.yaml"))
    )
    for path in templates.read:
        known.add(path)
    known.open |= templates.whole
    _from_values(_first(texts.get("values.yaml", "")), (), known)
    _from_schema(texts.get("values.schema.json", ""), known)
    return known


def _unpacked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of packed subcharts: a library chart reads its parent's values."""
    found: dict[str, bytes] = {}
    for name, content in files.items():
        if name.startswith("charts/") and name.endswith(".tgz"):
            found |= {f"{name}/{inside}": text for inside, text in chart_files.unpack(content).items()}
    return found


def _name(chart: Any) -> str:
    written = mapping(chart)
    return f"{written.get('name')} {written.get('version')}"


def _subcharts(texts: Mapping[str, str]) -> Iterator[str]:
    for name in ("Chart.yaml", "requirements.yaml"):
        for dependency in mappings(mapping(_first(texts.get(name, ""))).get("dependencies")):
            yield str(dependency.get("alias") or dependency.get("name"))
    for name in texts:
        if name.startswith("charts/") and name.count("/") > 1:
            yield name.split("/")[1]


def _first(text: str) -> Any:
    """The first document of a YAML text; None when it is none."""
    try:
        return next((one.value for one in read(text, "")), None)
    except InputError:
        return None


def _from_values(value: Any, path: Path, known: KnownKeys) -> None:
    """Every key of values.yaml. A mapping that it leaves empty, and that no template opens, takes anything."""
    if path:
        known.add(path)
    if isinstance(value, dict):
        if not value and path and path not in known.names:
            known.open.add(path)
        for key, entry in value.items():
            _from_values(entry, (*path, str(key)), known)
    elif isinstance(value, list) and (*path, EACH) in known.names:
        for entry in value:
            _from_values(entry, (*path, EACH), known)


def _from_schema(text: str, known: KnownKeys) -> None:
    try:
        schema = json.loads(text) if text else {}
    except ValueError:
        schema = {}
    _properties(schema, (), known)


def _properties(schema: Any, path: Path, known: KnownKeys) -> None:
    properties = mapping(mapping(schema).get("properties"))
    for name, entry in properties.items():
        below = (*path, str(name))
        known.add(below)
        if at(entry, ("$ref",)) is not None or len(below) > _DEEPEST:
            known.open.add(below)
        else:
            _properties(entry, below, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """The keys of a chart that is not at hand."""

    source: str
    """Where the chart is kept, with its commit."""
    chart: str
    """Its name and version."""
    keys: dict[str, Any]
    """A mapping where only the listed keys are read, null where any value is taken."""


@cache
def _lists() -> Mapping[str, _Listed]:
    return build(document(catalog_data() / "values_keys.yaml").value, dict[str, _Listed])


def listed_keys(name: str) -> KnownKeys:
    """The keys of a chart as the catalogue lists them."""
    listed = _lists()[name]
    known = KnownKeys(chart=listed.chart)
    known.open.update((name,) for name in _ALWAYS)
    _from_tree(listed.keys, (), known)
    return known


def _from_tree(tree: Mapping[str, Any], path: Path, known: KnownKeys) -> None:
    for name, below in tree.items():
        here = (*path, name)
        known.add(here)
        if isinstance(below, dict):
            _from_tree(below, here, known)
        else:
            known.open.add(here)
