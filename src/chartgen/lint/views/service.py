"""The service view: a Service or InferencePool, joined to the pods it selects."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, items, mapping, mappings
from chartgen.lint.numbers import number
from chartgen.lint.servers import split_words
from chartgen.lint.unknown import Maybe, Unknown, known
from chartgen.lint.views.all import Views
from chartgen.lint.views.engine.container import Container, containers, declared_ports
from chartgen.lint.views.engine.probes import resolve_port
from chartgen.lint.views.engine.view import EngineView
from chartgen.lint.workloads import PodSite

_INTERNAL: Final = (
    ("service.beta.kubernetes.io/aws-load-balancer-internal", "true"),
    ("service.beta.kubernetes.io/aws-load-balancer-scheme", "internal"),
    ("service.beta.kubernetes.io/azure-load-balancer-internal", "true"),
    ("networking.gke.io/load-balancer-type", "Internal"),
    ("cloud.google.com/load-balancer-type", "Internal"),
    ("service.beta.kubernetes.io/oci-load-balancer-internal", "true"),
    ("service.beta.kubernetes.io/openstack-internal-load-balancer", "true"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortView:
    """One port of a Service."""

    port: int | None
    """The port that clients use."""
    target: str
    """The target as written: a number or a name; the port itself when it is left out."""
    number: int | None
    """The container port it leads to; null when no container has a port of that name."""
    answered: Maybe[bool]
    """Whether a container of the selected pods listens there."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceView:
    """A Service or an InferencePool."""

    kind: str
    """Service or InferencePool."""
    name: str
    """Its name."""
    type: str
    """ClusterIP, LoadBalancer, NodePort or ExternalName."""
    headless: bool
    """Whether it has no address of its own."""
    selector: bool
    """Whether it has a selector; without one somebody else writes its endpoints."""
    selects: Maybe[int]
    """How many pod templates it selects."""
    near: str
    """A selector that would find pods, when it finds none: the nearest labels of the bundle; empty for none."""
    workers: bool
    """Whether it also selects pods of a group that answer no requests."""
    engines: int
    """Model servers among the pods."""
    ports: tuple[PortView, ...]
    """Its ports."""
    affinity: str
    """None or ClientIP."""
    internal: bool
    """Whether a load balancer is told to stay inside the network."""
    restricted: bool
    """Whether it names the source ranges it takes."""
    key_required: Maybe[bool]
    """Whether every engine behind it asks for a key."""
    takes_engine_variable: bool
    """Whether its name makes Kubernetes set VLLM_PORT in an engine's pod, and that pod does not switch it off."""
    hides_leader: bool
    """Whether it has the name of a group's own Service, but not what that one gives: pods before they are ready."""


def service_view(service: Manifest, views: Views) -> ServiceView:
    """The view of one Service or pool."""
    spec = mapping(service.value.get("spec"))
    sites = views.relations.selected_by(service)
    engines = [view for site in sites for _, view in views.engines(site)]
    annotations = mapping(service.metadata.get("annotations"))
    return ServiceView(
        kind=service.kind,
        name=service.name,
        type=str(spec.get("type") or "ClusterIP"),
        headless=spec.get("clusterIP") == "None",
        selector=bool(_labels(service)),
        selects=_selects(service, sites, views),
        near=_near(service, sites, views),
        workers=any(site.shape.role == "worker" for site in sites)
        and any(site.shape.role == "leader" for site in sites),
        engines=len(engines),
        ports=tuple(_ports(service, sites, views)),
        affinity=str(spec.get("sessionAffinity") or "None"),
        internal=any(str(annotations.get(key)) == value for key, value in _INTERNAL),
        restricted=bool(items(spec.get("loadBalancerSourceRanges"))),
        key_required=_key_required(engines),
        takes_engine_variable=service.kind == "Service" and _injects(service, views),
        hides_leader=service.kind == "Service" and _hides(service, views),
    )


def _labels(service: Manifest) -> dict[str, Any]:
    selector = mapping(at(service.value, ("spec", "selector")))
    return mapping(selector.get("matchLabels")) if service.kind == "InferencePool" else selector


def _selects(service: Manifest, sites: tuple[PodSite, ...], views: Views) -> Maybe[int]:
    """The number of pods selected. Where the bundle has no pods, or operators make them, nobody can tell."""
    if sites or not _labels(service):
        return len(sites)
    if views.pods_elsewhere(service.namespace):
        return Unknown(
            because="the pods it selects are not among the files", run=f"kubectl get endpoints {service.name}"
        )
    if views.relations.selected_elsewhere(_labels(service), service.namespace):
        return 1
    return 0


def _near(service: Manifest, sites: tuple[PodSite, ...], views: Views) -> str:
    labels = _labels(service)
    if sites or not labels:
        return ""
    wanted = _spelled(labels)
    options = {
        _spelled({key: site.labels.get(key) for key in labels if key in site.labels})
        for site in views.bundle.pods_in(service.namespace)
    }
    close = difflib.get_close_matches(
        wanted, sorted(option for option in options if option), n=1, cutoff=number("alike-labels")
    )
    return close[0] if close else ""


def _spelled(labels: dict[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _ports(service: Manifest, sites: tuple[PodSite, ...], views: Views) -> Iterator[PortView]:
    if service.kind == "InferencePool":
        for index, port in enumerate(mappings(at(service.value, ("spec", "targetPorts")))):
            target = port.get("number")
            yield _port(target, target, ("spec", "targetPorts", index), sites, views)
        return
    for index, port in enumerate(mappings(at(service.value, ("spec", "ports")))):
        target = port.get("targetPort", port.get("port"))
        yield _port(port.get("port"), target, ("spec", "ports", index), sites, views)


def _port(port: Any, target: Any, where: tuple[Step, ...], sites: tuple[PodSite, ...], views: Views) -> PortView:
    found = [(container, resolve_port(container.value, target)) for site in sites for container in containers(site)]
    numbers = [number for _, number in found if number is not None]
    return PortView(
        port=port if isinstance(port, int) else None,
        target=str(target),
        number=numbers[0] if numbers else None,
        answered=_answered(sites, target, found, views),
        at=where,
    )


def _answered(
    sites: tuple[PodSite, ...], target: Any, found: list[tuple[Container, int | None]], views: Views
) -> Maybe[bool]:
    """A name must be some container's; a number must be declared, or the port that an engine listens on."""
    if not sites or any(site.shape.operated for site in sites):
        return True
    number = whole_number(str(target))
    if isinstance(target, str) and number is None:
        return any(one is not None for _, one in found)
    ports: set[int] = set()
    for site in sites:
        engines = {view.at: view for _, view in views.engines(site)}
        for container in containers(site):
            engine = engines.get(container.path)
            declared = declared_ports(container)
            if engine is not None and isinstance(engine.port, Unknown):
                return engine.port
            if engine is None and not declared:
                return True
            ports |= {known(engine.port, 0)} if engine else set()
            ports |= set(declared) if engine is None else _further(engine, declared, container)
    return number in ports


def _further(engine: EngineView, declared: tuple[int, ...], container: Container) -> set[int]:
    """Declared ports where an engine may listen besides its own.

    vLLM has none. SGLang has some that its words name; one that declares the wrong port declares not its own.
    """
    if engine.server == "vllm":
        return set()
    if engine.server != "sglang" or known(engine.port, 0) in declared:
        return set(declared)
    words = " ".join(split_words(container.value))
    return {port for port in declared if re.search(rf"\b{port}\b", words)}


def _key_required(engines: list[EngineView]) -> Maybe[bool]:
    unknown = next((one.key_required for one in engines if isinstance(one.key_required, Unknown)), None)
    return unknown or all(known(one.key_required, otherwise=True) for one in engines)


def _hides(service: Manifest, views: Views) -> bool:
    """Whether it takes the name of a LeaderWorkerSet, whose controller then makes no headless Service."""
    if at(service.value, ("spec", "publishNotReadyAddresses")) is True:
        return False
    return any(
        site.manifest.kind == "LeaderWorkerSet"
        and site.manifest.name == service.name
        and at(site.manifest.value, ("spec", "networkConfig", "subdomainPolicy")) != "UniquePerReplica"
        and site.group_size > 1
        for site in views.bundle.pods_in(service.namespace)
    )


def _injects(service: Manifest, views: Views) -> bool:
    """Whether the Service's name becomes the engine's own variable: vllm makes VLLM_PORT."""
    if service.name.replace("-", "_").upper() != "VLLM" or at(service.value, ("spec", "clusterIP")) == "None":
        return False
    return any(
        site.spec.get("enableServiceLinks") is not False and "VLLM_PORT" not in view.env
        for site, view in views.vllm_in(service.namespace)
    )
