"""Before anything is written: Helm lints and templates the chart, and each object passes its schema."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from chartgen.chart.types import Chart
from chartgen.chart.values import join, leaves
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.structure import dotted
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import read, refusal
from chartgen.render.nodes import EKSCTL
from chartgen.validate import embedded
from chartgen.validate.helm import HelmEngine, HelmError
from chartgen.validate.problem import SchemaProblem

Validator = Literal["auto", "embedded", "kubeconform"]
"""Which schema checks run: ours, and kubeconform too where it is on PATH; only ours; or both without fail."""
_INVALID: Final = "not valid"
"""The verdict on a foreign chart or manifest, of which nothing would have been written anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One thing that a check says of a chart."""

    by: str
    """Who says it: helm lint, helm template, schema, kubeconform."""
    where: str
    """The file or object, and the path in it."""
    says: str
    """What is wrong."""


class Rejected(Exception):  # noqa: N818 - a chart that a check refuses; nothing of it is written
    """The checks refuse the chart. Exit code 1."""

    def __init__(self, name: str, complaints: tuple[Complaint, ...], verdict: str = "nothing is written") -> None:
        self.name = name
        self.verdict = verdict
        """What follows for the chart, as a short clause."""
        self.complaints = complaints
        super().__init__(f"{name}: {len(complaints)} complaint(s): {complaints[:3]}")


@dataclass(slots=True, kw_only=True)
class Checks:
    """The checks that every chart goes through."""

    helm: HelmEngine
    """The Helm that lints and renders."""
    validator: Validator = "auto"
    """Which schema checks run."""
    linted: dict[bytes, list[Complaint]] = field(default_factory=dict)
    """What `helm lint` said of each structure. Lint reads templates and Chart.yaml; values meet `helm template`
    and the schemas for every single chart. So of five hundred charts of one structure, one is linted."""

    def manifests(self, chart: Chart, files: Mapping[str, str]) -> dict[str, str]:
        """The rendered manifests of a chart that passes every check, by template path.

        Raises:
            Rejected: with every complaint.
        """
        complaints = [*self._lint(chart, files)]
        try:
            manifests = self.helm.template(
                files, release=chart.name, namespace=chart.namespace, kubernetes=chart.kubernetes
            )
        except HelmError as error:
            raise Rejected(chart.name, (*complaints, _templating(error))) from error
        objects = list(objects_of(manifests))
        complaints += self._schema_complaints(objects, chart.kubernetes)
        if complaints:
            raise Rejected(chart.name, tuple(complaints))
        return manifests

    def _lint(self, chart: Chart, files: Mapping[str, str]) -> list[Complaint]:
        key = _structure(chart, files)
        if key not in self.linted:
            self.linted[key] = [
                Complaint(by="helm lint", where=message.path, says=message.text)
                for message in self.helm.lint(files, kubernetes=chart.kubernetes)
                if message.severity != "info"
            ]
        return self.linted[key]

    def node_side(self, name: str, files: Mapping[str, str], kubernetes: str) -> None:
        """Check the objects that stand beside a chart.

        Raises:
            Rejected: with every complaint.
        """
        texts = {path: text for path, text in files.items() if path.endswith(".yaml")}
        known = [one for one in objects_of(texts) if not one[1]["apiVersion"].startswith(EKSCTL)]
        complaints = self._schema_complaints(known, kubernetes)
        if complaints:
            raise Rejected(name, tuple(complaints))

    def foreign(self, path: Path, kubernetes: str) -> int:
        """How many objects a chart or a file of manifests holds, all of them valid.

        Raises:
            Rejected: with every complaint.
            InputError: the file is no YAML in UTF-8, or there is no object to check.
        """
        if path.is_dir() or path.suffix in {".tgz", ".gz"}:
            try:
                manifests = self.helm.template_path(path, release="release", namespace="default", kubernetes=kubernetes)
            except HelmError as error:
                raise Rejected(str(path), (_templating(error),), _INVALID) from error
        else:
            manifests = {str(path): read_text(path)}
        objects = list(objects_of(manifests))
        if not objects:
            raise refusal(str(path), None, "nothing: it holds no objects", "at least one Kubernetes object")
        complaints = self._schema_complaints(objects, kubernetes)
        if complaints:
            raise Rejected(str(path), tuple(complaints), _INVALID)
        return len(objects)

    def _schema_complaints(self, objects: list[tuple[str, Any]], kubernetes: str) -> list[Complaint]:
        return [_schema(by, problem) for by, check in self._schema_checks() for problem in check(objects, kubernetes)]

    def _schema_checks(self) -> Iterator[tuple[str, Callable[[Any, str], list[SchemaProblem]]]]:
        yield "schema", embedded.check_objects
        if self.validator == "embedded":
            return
        from chartgen.validate import kubeconform  # noqa: PLC0415 - a second opinion that most runs do not ask for

        binary = kubeconform.find()
        if binary is not None:
            yield "kubeconform", partial(kubeconform.check_objects, binary)
        elif self.validator == "kubeconform":
            raise kubeconform.KubeconformMissing


def _structure(chart: Chart, files: Mapping[str, str]) -> bytes:
    """A digest of what lint reads of a chart: its templates, and which values there are, whatever they are."""
    digest = hashlib.sha256(chart.kubernetes.encode())
    for name, text in files.items():
        if name.startswith(("templates/", "files/")):
            digest.update(f"{name}\0{text}\0".encode())
    for path, decision in leaves(join(chart.components)):
        digest.update(f"{'.'.join(path)} {type(decision.value).__name__}\0".encode())
    return digest.digest()


def objects_of(manifests: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Each object of rendered manifests with the template it came from."""
    for source, text in manifests.items():
        for document in read(text, source):
            if document.value is not None:
                yield source, document.value


def _templating(error: HelmError) -> Complaint:
    return Complaint(by="helm template", where="", says=str(error))


def _schema(by: str, problem: SchemaProblem) -> Complaint:
    where = f"{problem.source} {problem.kind}/{problem.name} {dotted(problem.path)}".rstrip()
    return Complaint(by=by, where=where, says=problem.message)
