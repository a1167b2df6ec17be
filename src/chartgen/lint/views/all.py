"""All views of a bundle, each built when it is first asked for and then kept."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from chartgen.lint.bundle import Bundle
from chartgen.lint.manifest import Manifest, at, mappings
from chartgen.lint.relations import SCRAPERS, Relations
from chartgen.lint.views.cloud import cloud_of_bundle
from chartgen.lint.views.engine.container import Container
from chartgen.lint.views.engine.view import EngineView, engine_views
from chartgen.lint.views.pod import PodView, pod_view
from chartgen.lint.workloads import PodSite

_ENDPOINTS: Final = ("endpoints", "podMetricsEndpoints")
_RELABELLINGS: Final = ("metricRelabelings", "metricRelabeling")
"""prometheus-operator's field, and Google Cloud's."""


class Views:
    """The views of one bundle. `world` is everything read in the same call, for names that stand elsewhere."""

    def __init__(self, bundle: Bundle, world: Bundle, cloud: str | None) -> None:
        self.bundle = bundle
        self.relations = Relations(bundle, world)
        self._cloud = cloud
        self._elsewhere: dict[str, bool] = {}
        self._vllm: dict[str, list[tuple[PodSite, EngineView]]] = {}
        self._pods: dict[int, PodView] = {}
        self._engines: dict[int, tuple[tuple[Container, EngineView], ...]] = {}

    @cached_property
    def cloud(self) -> str | None:
        """Whose Kubernetes it is: as the user says, or as the manifests tell."""
        return self._cloud or cloud_of_bundle(self.bundle)

    @cached_property
    def renames_metrics(self) -> bool:
        """Whether a recording rule, scraper or collector of the bundle may give the engine's metrics other names."""
        for scraper in self.bundle.of_kind(*SCRAPERS):
            endpoints = [one for key in _ENDPOINTS for one in mappings(at(scraper.value, ("spec", key)))]
            relabelled = [rule for one in endpoints for key in _RELABELLINGS for rule in mappings(one.get(key))]
            if any(rule.get("targetLabel", rule.get("target_label")) == "__name__" for rule in relabelled):
                return True
        for rules in self.bundle.of_kind("PrometheusRule"):
            groups = mappings(at(rules.value, ("spec", "groups")))
            if any("vllm_" in str(rule.get("record")) for group in groups for rule in mappings(group.get("rules"))):
                return True
        return any(True for _ in self.bundle.of_kind("OpenTelemetryCollector"))

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

    def pods_elsewhere(self, namespace: str) -> bool:
        """Whether pods may well exist that are not among the files: there are none at all, or operators make them."""
        found = self._elsewhere.get(namespace)
        if found is None:
            sites = list(self.bundle.pods_in(namespace))
            found = self._elsewhere[namespace] = not sites or any(site.shape.operated for site in sites)
        return found

    def vllm_in(self, namespace: str) -> list[tuple[PodSite, EngineView]]:
        """The vLLM servers that can be in a namespace, each with its pod."""
        found = self._vllm.get(namespace)
        if found is None:
            sites = self.bundle.pods_in(namespace)
            every = [(site, view) for site in sites for _, view in self.engines(site)]
            found = self._vllm[namespace] = [pair for pair in every if pair[1].server == "vllm"]
        return found

    def release(self, namespace: str) -> str | None:
        """The one release that all vLLM servers of a namespace run; None when that is not so."""
        releases = {view.release.version for _, view in self.vllm_in(namespace)}
        only = next(iter(releases)) if len(releases) == 1 else None
        return only if isinstance(only, str) else None

    def engines_of(self, workload: Manifest) -> list[EngineView]:
        """The model servers of all pods of a workload."""
        sites = self.bundle.pods_of.get(id(workload), ())
        return [view for site in sites for _, view in self.engines(site)]
