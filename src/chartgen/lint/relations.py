"""How the objects of a bundle belong together: who selects, scales, protects and names whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from chartgen.lint.bundle import Bundle, Shelf, holds
from chartgen.lint.manifest import Manifest, at, mapping, mappings
from chartgen.lint.naming import named_in
from chartgen.lint.workloads import PodSite

SCALERS: Final = ("HorizontalPodAutoscaler", "ScaledObject")
SCRAPERS: Final = ("ServiceMonitor", "PodMonitor", "PodMonitoring")
_ANSWERING_OPERATORS: Final = frozenset(
    {"InferenceService", "LLMInferenceService", "RayService", "Workspace", "InferenceSet", "Model", "NIMService"}
)
"""Kinds whose operator makes the Service."""


class Relations:
    """The joins of one bundle. `world` is everything read in the same call, for names that stand elsewhere."""

    def __init__(self, bundle: Bundle, world: Bundle) -> None:
        self.bundle = bundle
        self.world = world

    def find(self, kind: str, name: str, namespace: str) -> Manifest | None:
        """The object of that kind and name: in the bundle, else anywhere in what was read."""
        return self.bundle.named(kind, name, namespace) or self.world.named(kind, name, namespace)

    @cached_property
    def _selecting(self) -> Mapping[int, list[Manifest]]:
        """Services and pools by the identity of the pod they select."""
        found: dict[int, list[Manifest]] = defaultdict(list)
        for service in self.bundle.of_kind("Service", "InferencePool"):
            for site in self.selected_by(service):
                found[id(site)].append(service)
        return found

    def selected_by(self, service: Manifest) -> tuple[PodSite, ...]:
        """The pods that a Service or an InferencePool selects."""
        selector = mapping(at(service.value, ("spec", "selector")))
        if service.kind == "InferencePool":
            selector = mapping(selector.get("matchLabels")) or selector
        return self.bundle.selected(selector, service.namespace)

    def services_matched(self, selector: object, namespace: str) -> list[Manifest]:
        """The Services whose own labels a selector matches, as a ServiceMonitor's does."""
        labels = mapping(mapping(selector).get("matchLabels"))
        expressions = mappings(mapping(selector).get("matchExpressions"))
        return [
            service
            for service in self.bundle.of_kind("Service", namespace=namespace)
            if all(mapping(service.metadata.get("labels")).get(key) == value for key, value in labels.items())
            and all(holds(term, mapping(service.metadata.get("labels"))) for term in expressions)
        ]

    def services_of(self, site: PodSite) -> list[Manifest]:
        """The Services and pools that select a pod."""
        return self._selecting.get(id(site), [])

    def exposed(self, site: PodSite) -> bool:
        """Whether anything sends the pod requests."""
        if site.shape.role in {"job", "worker", "template"}:
            return False
        if self.services_of(site) or site.manifest.kind in _ANSWERING_OPERATORS:
            return True
        return any(self._meant_for(site, service) for service in self._selecting_nothing(site.manifest.namespace))

    def _selecting_nothing(self, namespace: str) -> Iterator[Manifest]:
        """The Services whose selector finds no pod: a mistake of theirs hides none of the pods'."""
        for service in self.bundle.of_kind("Service", namespace=namespace):
            selector = mapping(at(service.value, ("spec", "selector")))
            if selector and not self.selected_by(service) and not self.selected_elsewhere(selector, namespace):
                yield service

    @staticmethod
    def _meant_for(site: PodSite, service: Manifest) -> bool:
        """Whether a Service sends to a port that the pod declares."""
        declared = [port for one in mappings(site.spec.get("containers")) for port in mappings(one.get("ports"))]
        known = {port.get(key) for port in declared for key in ("name", "containerPort")} - {None}
        ports = mappings(at(service.value, ("spec", "ports")))
        return any(port.get("targetPort", port.get("port")) in known for port in ports)

    @cached_property
    def _scalers(self) -> Shelf[tuple[str, str], Manifest]:
        shelf: Shelf[tuple[str, str], Manifest] = Shelf()
        for scaler in self.bundle.of_kind(*SCALERS):
            shelf.put(target_of(scaler), scaler.namespace, scaler)
        return shelf

    def scalers_of(self, workload: Manifest) -> list[Manifest]:
        """The autoscalers that target a workload."""
        return self.scalers_named(workload.kind, workload.name, workload.namespace)

    def scalers_named(self, kind: str, name: str, namespace: str) -> list[Manifest]:
        """The autoscalers that name a target of that kind and name."""
        return list(self._scalers.get((kind, name), namespace))

    def selected_elsewhere(self, labels: Mapping[str, str], namespace: str) -> bool:
        """Whether pods outside the bundle, but read in the same call, carry the labels."""
        return self.world is not self.bundle and bool(self.world.selected(labels, namespace))

    @cached_property
    def _budgets(self) -> Mapping[int, list[Manifest]]:
        found: dict[int, list[Manifest]] = defaultdict(list)
        for budget in self.bundle.of_kind("PodDisruptionBudget"):
            for site in self.budgeted_by(budget):
                found[id(site)].append(budget)
        return found

    def budgeted_by(self, budget: Manifest) -> tuple[PodSite, ...]:
        """The pods that a disruption budget selects."""
        return self.bundle.matched(at(budget.value, ("spec", "selector")), budget.namespace)

    @cached_property
    def _scraped(self) -> frozenset[int]:
        found: set[int] = set()
        for monitor in self.bundle.of_kind("PodMonitor", "PodMonitoring"):
            namespace = "" if at(monitor.value, ("spec", "namespaceSelector")) else monitor.namespace
            found |= {id(site) for site in self.bundle.matched(at(monitor.value, ("spec", "selector")), namespace)}
        for monitor in self.bundle.of_kind("ServiceMonitor"):
            namespace = "" if at(monitor.value, ("spec", "namespaceSelector")) else monitor.namespace
            for service in self.services_matched(at(monitor.value, ("spec", "selector")), namespace):
                found |= {id(site) for site in self.selected_by(service)}
        return frozenset(found)

    def scraped(self, site: PodSite) -> bool:
        """Whether a monitor of the bundle selects a pod, directly or through its Service."""
        return id(site) in self._scraped

    @cached_property
    def _used(self) -> Shelf[str, str]:
        shelf: Shelf[str, str] = Shelf()
        for site in self.bundle.pods:
            for kind, name, _, _ in named_in(site):
                if isinstance(name, str):
                    shelf.put(kind, site.manifest.namespace, name)
        return shelf

    def names_used(self, kind: str, namespace: str) -> frozenset[str]:
        """The names of that kind that any pod of the namespace needs."""
        return frozenset(self._used.get(kind, namespace))

    def budgets_of(self, site: PodSite) -> list[Manifest]:
        """The disruption budgets that select a pod."""
        return self._budgets.get(id(site), [])


def target_of(scaler: Manifest) -> tuple[str, str]:
    """Kind and name of what an autoscaler scales; KEDA's default kind is Deployment."""
    target = mapping(at(scaler.value, ("spec", "scaleTargetRef")))
    return str(target.get("kind") or "Deployment"), str(target.get("name") or "")


def minimum_of(scaler: Manifest) -> int:
    """The fewest replicas an autoscaler allows: KEDA's default is 0, that of an HPA 1."""
    keda = scaler.kind == "ScaledObject"
    written = at(scaler.value, ("spec", "minReplicaCount" if keda else "minReplicas"))
    return written if isinstance(written, int) else 0 if keda else 1
