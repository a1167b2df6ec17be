"""All views of a bundle, each built when it is first asked for and then kept."""

from __future__ import annotations

from functools import cached_property

from chartgen.lint.bundle import Bundle
from chartgen.lint.manifest import Manifest
from chartgen.lint.relations import Relations
from chartgen.lint.views.cloud import cloud_of_bundle
from chartgen.lint.views.engine.container import Container
from chartgen.lint.views.engine.view import EngineView, engine_views
from chartgen.lint.views.pod import PodView, pod_view
from chartgen.lint.workloads import PodSite


class Views:
    """The views of one bundle. `world` is everything read in the same call, for names that stand elsewhere."""

    def __init__(self, bundle: Bundle, world: Bundle, cloud: str | None) -> None:
        self.bundle = bundle
        self.relations = Relations(bundle, world)
        self._cloud = cloud
        self._pods: dict[int, PodView] = {}
        self._engines: dict[int, tuple[tuple[Container, EngineView], ...]] = {}

    @cached_property
    def cloud(self) -> str | None:
        """Whose Kubernetes it is: as the user says, or as the manifests tell."""
        return self._cloud or cloud_of_bundle(self.bundle)

    def pod(self, site: PodSite) -> PodView:
        """The view of a pod template."""
        found = self._pods.get(id(site))
        if found is None:
            found = self._pods[id(site)] = pod_view(site, self.relations, self.cloud)
        return found

    def engines(self, site: PodSite) -> tuple[tuple[Container, EngineView], ...]:
        """The model servers of a pod template, each with its container."""
        found = self._engines.get(id(site))
        if found is None:
            found = self._engines[id(site)] = tuple(engine_views(self.pod(site), self.relations, site))
        return found

    def engines_of(self, workload: Manifest) -> list[EngineView]:
        """The model servers of all pods of a workload."""
        sites = self.bundle.pods_of.get(id(workload), ())
        return [view for site in sites for _, view in self.engines(site)]
