"""The schema check that needs nothing but this package: strict, and as fast as a manifest can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.structure import shown
from chartgen.kernel.yaml_source import Step
from chartgen.validate import library
from chartgen.validate.explain import faults
from chartgen.validate.fault import Fault
from chartgen.validate.library import Life, Release
from chartgen.validate.problem import SchemaProblem
from chartgen.validate.values import value_faults


def check_objects(objects: Iterable[tuple[str, Mapping[str, Any]]], kubernetes: str) -> list[SchemaProblem]:
    """Check objects against the API of one minor of Kubernetes and the custom resources that chartgen knows.

    Args:
        objects: pairs of a source (a file or template name, used in problems only) and a parsed object: plain
            dicts, lists and scalars. A `List` is checked entry by entry.
        kubernetes: the minor: 1.34.

    Returns:
        Every problem, in the order of the objects. An object of a kind without a schema is reported too, with
        the code `unknown-kind`: nothing is passed over silently.

    Raises:
        UnknownName: there are no schemas for `kubernetes`.
    """
    release = library.release(kubernetes)
    return [problem for source, content in objects for problem in _check(source, content, (), release)]


@dataclass(frozen=True, slots=True)
class _Subject:
    """The object at hand, and how its problems name it."""

    source: str
    api_version: str
    kind: str
    name: str
    prefix: tuple[Step, ...]
    schema: str

    def problem(self, fault: Fault) -> SchemaProblem:
        return SchemaProblem(
            source=self.source,
            api_version=self.api_version,
            kind=self.kind,
            name=self.name,
            path=(*self.prefix, *fault.path),
            code=fault.code,
            message=fault.message,
            found=fault.found,
            expected=fault.expected,
            nearest=fault.nearest,
            schema=self.schema,
        )


def _check(source: str, content: Any, prefix: tuple[Step, ...], release: Release) -> Iterator[SchemaProblem]:
    if not isinstance(content, dict):
        nothing = _Subject(source, "", "", "", prefix, "")
        yield nothing.problem(_no_object(shown(content), ()))
        return
    api_version, kind = _text(content.get("apiVersion")), _text(content.get("kind"))
    schema = library.schema(api_version, kind, release)
    metadata = content.get("metadata")
    name = _text(metadata.get("name")) if isinstance(metadata, dict) else ""
    subject = _Subject(source, api_version, kind, name, prefix, schema.origin if schema else "")
    missing = [key for key in ("apiVersion", "kind") if not _text(content.get(key))]
    if missing:
        for key in missing:
            step = (key,) if key in content else ()
            yield subject.problem(_no_object(f"{key} {shown(content.get(key))}", step))
        return
    if kind == "List" and api_version == "v1":
        entries = content.get("items")
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            yield from _check(source, entry, (*prefix, "items", position), release)
        return
    if schema is None:
        yield subject.problem(_unserved(api_version, kind, release))
        return
    minor = int(release.minor.partition(".")[2])
    found = [*faults(library.validator(schema.path).iter_errors(content)), *value_faults(content, minor=minor)]
    for fault in sorted(found, key=lambda fault: fault.path):
        yield subject.problem(fault)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _no_object(found: str, path: tuple[Step, ...]) -> Fault:
    return Fault(
        path=path,
        code="no-object",
        message=f"this is no Kubernetes object: {found}",
        found=found,
        expected="a mapping with apiVersion, kind and metadata",
    )


def _unserved(api_version: str, kind: str, release: Release) -> Fault:
    """Why a minor has no schema for a kind: never heard of, too old, or too new."""
    life = library.index().lives.get((api_version, kind))
    others = sorted(
        version for version, name in _known(release) if name == kind and _group(version) == _group(api_version)
    )
    minor = int(release.minor.partition(".")[2])
    what = f"{kind} of {api_version}"
    if life and life.removed and life.removed <= minor:
        instead = _instead(life, others)
        message = f"{what} is not served since Kubernetes 1.{life.removed}"
    elif life and life.introduced and life.introduced > minor:
        instead = _instead(None, others)
        message = f"{what} is served from Kubernetes 1.{life.introduced}, and this is {release.minor}"
    elif others:
        instead = _instead(None, others)
        message = f"{what} is not an API version of {kind}"
    else:
        return Fault(
            path=("kind",),
            code="unknown-kind",
            message=f"not checked: no schema is known for {what}",
            found=f"{api_version} {kind}",
            expected="a kind that chartgen has a schema for",
        )
    return Fault(
        path=("apiVersion",),
        code="api-version",
        message=f"{message}; use {instead}" if instead else message,
        found=api_version,
        expected=instead or f"nothing: Kubernetes {release.minor} has no {kind} in this group",
    )


def _known(release: Release) -> Iterator[tuple[str, str]]:
    yield from release.kinds
    yield from library.index().custom


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _instead(life: Life | None, others: list[str]) -> str:
    """The API version to use: the one that took over, else the most stable of the same group."""
    if life and life.replacement:
        return life.replacement
    return min(others, key=lambda version: ("alpha" in version, "beta" in version, version), default="")
