"""The things in scope of a bundle, each with its data and its anchors: what policies are asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from chartgen.lint.allow import Mark
from chartgen.lint.bundle import Bundle
from chartgen.lint.judge import Subject
from chartgen.lint.manifest import Manifest
from chartgen.lint.unknown import Unknown, plain
from chartgen.lint.views.document import document_view
from chartgen.policy.types import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known of the cluster that the manifests are for."""

    oldest: int = 33
    """The oldest Kubernetes minor asked for: 33 is 1.33."""
    newest: int = 37
    """The newest Kubernetes minor asked for."""
    cloud: str | None = None
    """Whose Kubernetes it is, when the user says so."""

    @property
    def cluster(self) -> dict[str, Any]:
        """The same as plain data, for expressions."""
        return {"oldest": self.oldest, "newest": self.newest, "cloud": self.cloud}


def subjects(scope: Scope, bundle: Bundle, surroundings: Surroundings) -> Iterator[Subject]:
    """Every thing of that scope in a bundle."""
    build = _BUILDERS.get(scope)
    if build is not None:
        yield from build(bundle, surroundings)


def _objects(bundle: Bundle, surroundings: Surroundings) -> Iterator[Subject]:
    del surroundings
    for manifest in bundle.manifests:
        yield Subject(scope="object", manifest=manifest, data={"object": manifest.value}, anchors={"object": ()})


def _pods(bundle: Bundle, surroundings: Surroundings) -> Iterator[Subject]:
    del surroundings
    for site in bundle.pods:
        unknown: dict[str, Unknown] = {}
        yield Subject(
            scope="pod",
            manifest=site.manifest,
            data={"object": site.manifest.value, "spec": site.spec, "pod": {}},
            anchors={"object": (), "pod": site.path},
            unknown=unknown,
        )


_BUILDERS: Final[dict[Scope, Callable[[Bundle, Surroundings], Iterator[Subject]]]] = {
    "object": _objects,
    "pod": _pods,
}


def document_subjects(
    manifests: Iterable[Manifest], marks: Iterable[Mark], asked: frozenset[str], every: frozenset[str]
) -> Iterator[Subject]:
    """The texts that have something to say: a duplicate key, or an allowance."""
    by_manifest: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_manifest[id(mark.manifest)].append(mark)
    for manifest in manifests:
        own = by_manifest.get(id(manifest), [])
        if own or manifest.document.duplicates:
            view = document_view(manifest, own, asked, every)
            data = {"document": plain(view, {})}
            yield Subject(scope="document", manifest=manifest, data=data, anchors={"object": ()})
