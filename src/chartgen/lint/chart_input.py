"""Charts as input: rendered by a Helm engine, with findings traced back to templates and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path, PurePath

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError
from chartgen.kernel.yaml_source import Document, refusal
from chartgen.lint.chart_keys import KnownKeys, known_keys
from chartgen.lint.documents import read_manifests
from chartgen.lint.helm_values import GivenValues
from chartgen.lint.inputs import Read
from chartgen.lint.manifest import Manifest, Unread
from chartgen.lint.operators.kinds import VALUES
from chartgen.lint.trace import ChartSource
from chartgen.validate import chart_files
from chartgen.validate.helm_engine import HelmEngine, HelmError


@dataclass(frozen=True, slots=False, kw_only=True)
class ChartReader:
    """Renders charts as `helm install` would, with the user's values."""

    engine: Callable[[], HelmEngine]
    """Gives the Helm engine, when the first chart is met."""
    values: GivenValues = field(default_factory=GivenValues)
    """What the user gives with -f and --set."""
    kubernetes: str | None = None
    """The Kubernetes minor that the chart is told."""

    @cached_property
    def _engine(self) -> HelmEngine:
        return self.engine()

    def read(self, path: Path) -> Iterator[Read]:
        """The objects of one chart, with their templates; a chart that does not render is told as such."""
        name = str(path)
        try:
            files = chart_files.read(path)
        except InputError as error:
            yield from (Unread(fate="failed", problem=problem) for problem in error.problems)
            return
        try:
            rendered = self._engine.template(
                files, release=_release(path), namespace="", values=self.values.merged, kubernetes=self.kubernetes
            )
        except HelmError as error:
            (problem,) = refusal(name, None, f"Helm's error: {error}", "a chart that renders").problems
            yield Unread(fate="failed", problem=problem)
            return
        yield from self._ignored(name, files)
        source = chart_source(name, files)
        for template, text in rendered.items():
            inside = template.partition("/")[2]
            for found in read_manifests(text, f"{name}/{inside}", name, rendered=True):
                yield replace(found, origin=source) if isinstance(found, Manifest) else found
        yield f"{name} was rendered by Helm {self._engine.version}"

    def _ignored(self, name: str, files: Mapping[str, bytes]) -> Iterator[Manifest]:
        """The user's values, when any of their keys are read by nobody."""
        if not self.values.documents:
            return
        known = known_keys(files)
        for file, document in self.values.documents:
            found = _values_manifest(file, name, document, known)
            if found.ignored:
                yield found


def _values_manifest(file: str, group: str, document: Document, known: KnownKeys) -> Manifest:
    """A values file as something to judge: nothing is asked of it but who reads its keys."""
    value = {"apiVersion": f"{VALUES}/v1", "kind": "Values", "metadata": {"name": PurePath(file).stem}}
    return Manifest(file=file, group=group, document=document, value=value, ignored=tuple(known.ignored(document)))


def chart_source(name: str, files: Mapping[str, bytes]) -> ChartSource:
    """The templates and values of a chart, by the names that a reader knows them by."""
    texts = {path: content.decode("utf-8", "replace") for path, content in files.items()}
    templates = {f"{name}/{path}": text for path, text in texts.items() if "templates/" in path}
    return ChartSource(name, templates, texts.get("values.yaml"))


def _release(path: Path) -> str:
    """The release's name: what the chart is called, as people mostly do."""
    return path.name.partition(".")[0].lower() or "release"
