"""What an AWS application load balancer sends to: pods, or ports of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, mapping
from chartgen.lint.views.all import Views
from chartgen.lint.views.backends import Backend

_TARGET_TYPE: Final = "alb.ingress.kubernetes.io/target-type"
_AUTO_MODE: Final = "eks.amazonaws.com/alb"
"""The controller of EKS Auto Mode, whose classes have defaults of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreachableService:
    """A Service without the node port that the load balancer would send to."""

    name: str
    """Its name."""
    type: str
    """Its type."""
    at: tuple[Step, ...]
    """Where the Ingress names it."""


def unreachable_services(route: Manifest, found: Iterable[Backend], views: Views) -> Iterator[UnreachableService]:
    """The Services without node ports behind an Ingress to nodes; none where a class may say otherwise."""
    if any(at(one.value, ("spec", "targetType")) for one in views.bundle.of_kind("IngressClassParams")):
        return
    if any(at(one.value, ("spec", "controller")) == _AUTO_MODE for one in views.bundle.of_kind("IngressClass")):
        return
    for backend in found:
        service = views.relations.find("Service", backend.name, route.namespace)
        if service is None:
            continue
        kind = str(at(service.value, ("spec", "type")) or "ClusterIP")
        said = [mapping(one.metadata.get("annotations")).get(_TARGET_TYPE) for one in (service, route)]
        target = next((str(one) for one in said if one), "instance")
        if kind == "ClusterIP" and target == "instance":
            yield UnreachableService(name=service.name, type=kind, at=backend.at)
