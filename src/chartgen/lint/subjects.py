"""The things in scope of a bundle, each with its data and its anchors: what policies are asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, UnknownName
from chartgen.lint.allow import Mark
from chartgen.lint.judge import Subject
from chartgen.lint.manifest import Manifest
from chartgen.lint.relations import SCALERS, SCRAPERS
from chartgen.lint.schemas import faults
from chartgen.lint.select import unknown as unknown_name
from chartgen.lint.unknown import Unknown, plain
from chartgen.lint.views.all import Views
from chartgen.lint.views.bundle import bundle_views
from chartgen.lint.views.cloud import CLOUDS, unknown_cloud
from chartgen.lint.views.document import document_view
from chartgen.policy.types import Scope
from chartgen.validate import library


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known of the cluster that the manifests are for."""

    minors: tuple[str, ...] = ()
    """The Kubernetes minors asked for, the oldest first; empty for the newest known one."""
    cloud: str | None = None
    """Whose Kubernetes it is, when the user says so."""

    @property
    def cluster(self) -> dict[str, Any]:
        """The same as plain data, for expressions: 1.37 is the number 37."""
        numbers = [int(minor.partition(".")[2]) for minor in self.asked]
        return {"oldest": numbers[0], "newest": numbers[-1], "cloud": self.cloud}

    @property
    def asked(self) -> tuple[str, ...]:
        """The Kubernetes minors to hold objects against."""
        return self.minors or (list(library.index().releases)[-1],)


def surroundings(minors: Iterable[str], cloud: str | None) -> Surroundings:
    """What the user says of the cluster.

    Raises:
        InputError: there are no schemas for a minor, or no policy knows the cloud.
    """
    try:
        asked = {library.release(minor).minor for minor in minors}
    except UnknownName as error:
        raise InputError([unknown_name("--kubernetes", error)]) from error
    if cloud is not None and cloud not in CLOUDS:
        raise InputError([unknown_name("--cloud", unknown_cloud(cloud))])
    return Surroundings(minors=tuple(sorted(asked, key=lambda one: int(one.partition(".")[2]))), cloud=cloud)


def subjects(scope: Scope, views: Views) -> Iterator[Subject]:
    """Every thing of that scope in a bundle."""
    build = _BUILDERS.get(scope)
    if build is not None:
        yield from build(views)


def _objects(views: Views) -> Iterator[Subject]:
    for manifest in views.bundle.manifests:
        yield Subject(scope="object", manifest=manifest, data={"object": manifest.value}, anchors={"object": ()})


def _pods(views: Views) -> Iterator[Subject]:
    for site in views.bundle.pods:
        unknown: dict[str, Unknown] = {}
        view = views.pod(site)
        yield Subject(
            scope="pod",
            manifest=site.manifest,
            data={"object": site.manifest.value, "spec": site.spec, "pod": plain(view, unknown)},
            anchors={"object": (), "pod": site.path},
            unknown=unknown,
        )


def _engines(views: Views) -> Iterator[Subject]:
    for site in views.bundle.pods:
        engines = views.engines(site)
        if not engines:
            continue
        unknown: dict[str, Unknown] = {}
        pod = plain(views.pod(site), unknown)
        for container, view in engines:
            own = dict(unknown)
            yield Subject(
                scope="engine",
                manifest=site.placed,
                data={"engine": plain(view, own), "pod": pod},
                anchors={"object": (), "pod": site.path, "container": container.path},
                unknown=own,
            )


def _bundles(views: Views) -> Iterator[Subject]:
    for manifest, view in bundle_views(views.bundle):
        yield Subject(scope="bundle", manifest=manifest, data={"bundle": plain(view, {})}, anchors={"object": ()})


def _of_kinds(scope: Scope, *kinds: str) -> Callable[[Views], Iterator[Subject]]:
    """A builder for scopes that are one object each."""

    def build(views: Views) -> Iterator[Subject]:
        for manifest in views.bundle.of_kind(*kinds):
            unknown: dict[str, Unknown] = {}
            data: dict[str, Any] = {scope: plain(_view_of(scope)(manifest, views), unknown)}
            yield Subject(scope=scope, manifest=manifest, data=data, anchors={"object": ()}, unknown=unknown)

    return build


@cache
def _view_of(scope: Scope) -> Callable[[Manifest, Views], Any]:
    """What makes a view of such an object, imported when the first one is met: most inputs hold few kinds."""
    view: Callable[[Manifest, Views], Any] = getattr(import_module(f"chartgen.lint.views.{scope}"), f"{scope}_view")
    return view


_BUILDERS: Final[dict[Scope, Callable[[Views], Iterator[Subject]]]] = {
    "object": _objects,
    "pod": _pods,
    "engine": _engines,
    "service": _of_kinds("service", "Service", "InferencePool"),
    "scaler": _of_kinds("scaler", *SCALERS),
    "route": _of_kinds("route", "Ingress", "HTTPRoute", "VirtualService", "HTTPProxy", "IngressRoute", "Route"),
    "monitor": _of_kinds("monitor", *SCRAPERS, "PrometheusRule", "ConfigMap"),
    "bundle": _bundles,
    "budget": _of_kinds("budget", "PodDisruptionBudget"),
}


def document_subjects(
    manifests: Iterable[Manifest],
    marks: Iterable[Mark],
    minors: Sequence[str],
    asked: frozenset[str],
    every: frozenset[str],
) -> Iterator[Subject]:
    """The texts that have something to say: a duplicate key, a fault for the API server, an allowance."""
    by_manifest: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_manifest[id(mark.manifest)].append(mark)
    for manifest in manifests:
        own = by_manifest.get(id(manifest), [])
        found = faults(manifest, minors)
        if own or found or manifest.ignored or manifest.document.duplicates:
            view = document_view(manifest, found, own, asked, every)
            unknown: dict[str, Unknown] = {}
            data = {"document": plain(view, unknown)}
            yield Subject(scope="document", manifest=manifest, data=data, anchors={"object": ()}, unknown=unknown)
