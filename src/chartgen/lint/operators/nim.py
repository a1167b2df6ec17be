"""NVIDIA's NIMService: a container's fields, and how it is scaled and exposed, beside each other in spec.

Fields: NVIDIA/k8s-nim-operator, api/apps/v1alpha1/nimservice_types.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from chartgen.lint.manifest import Manifest, at, items, mapping
from chartgen.lint.operators.completion import Made, completed
from chartgen.lint.workloads import PodSite, pods_of_replica

_PROBES: Final = ("startupProbe", "livenessProbe", "readinessProbe")
_PORT: Final = 8000
"""NIM's own port (common_types.go, DefaultAPIPort)."""
_SCALE: Final = ("spec", "scale", "hpa")


def made(manifest: Manifest) -> Made:
    """The pod of a NIMService, its Service, and its autoscaler and Ingress where they are switched on."""
    return Made(objects=(*_scalers(manifest), *_exposed(manifest)), pods=(_pod(manifest),))


def _exposed(manifest: Manifest) -> Iterator[Manifest]:
    expose = mapping(at(manifest.value, ("spec", "expose")))
    service, ingress = mapping(expose.get("service")), mapping(expose.get("ingress"))
    port = {"name": "api", "port": service.get("port", _PORT), "targetPort": "api"}
    spec: dict[str, Any] = {"selector": _labels(manifest), "ports": [port], "type": service.get("type", "ClusterIP")}
    yield _object(manifest, ("v1", "Service"), service, spec, "service")
    if ingress.get("enabled") is True:
        version = ("networking.k8s.io/v1", "Ingress")
        made = _object(manifest, version, ingress, mapping(ingress.get("spec")), "ingress")
        yield replace(made, spec_at=(*manifest.root, "spec", "expose", "ingress", "spec"))


def _object(
    manifest: Manifest, version: tuple[str, str], written: dict[str, Any], spec: dict[str, Any], where: str
) -> Manifest:
    metadata = {**manifest.metadata, "annotations": mapping(written.get("annotations"))}
    metadata["name"] = written.get("name") or manifest.name
    value = {"apiVersion": version[0], "kind": version[1], "metadata": metadata, "spec": spec}
    root = (*manifest.root, "spec", "expose", where)
    return replace(manifest, root=root, spec_at=root, value=value)


def _labels(manifest: Manifest) -> dict[str, str]:
    """What GetStandardSelectorLabels puts on the pods."""
    return {"app": manifest.name}


def _pod(manifest: Manifest) -> PodSite:
    spec = mapping(manifest.value.get("spec"))
    image = mapping(spec.get("image"))
    port = at(spec, ("expose", "service", "port"))
    container: dict[str, Any] = {
        "name": manifest.name,
        "image": f"{image.get('repository')}:{image.get('tag')}",
        **{key: spec.get(key) for key in ("command", "args", "resources")},
        "env": items(spec.get("env")),
        "envFrom": [{"secretRef": {"name": spec["authSecret"]}}] if isinstance(spec.get("authSecret"), str) else None,
    }
    if isinstance(port, int):
        container["ports"] = [{"name": "api", "containerPort": port}]
        container["env"] = [*container["env"], {"name": "NIM_SERVER_PORT", "value": str(port)}]
    for name in _PROBES:
        written = mapping(spec.get(name))
        if written.get("enabled") is False:
            container[name] = {}
        elif mapping(written.get("probe")):
            container[name] = written["probe"]
    pod = {key: spec.get(key) for key in ("nodeSelector", "tolerations", "affinity", "runtimeClassName")}
    size = pods_of_replica(at(spec, ("multiNode", "parallelism", "pipeline")))
    site = completed(manifest, "nim", container, pod, at=("spec",), group_size=size)
    return replace(site, labels=_labels(manifest))


def _scalers(manifest: Manifest) -> tuple[Manifest, ...]:
    scale = mapping(at(manifest.value, ("spec", "scale")))
    if scale.get("enabled") is not True or not mapping(scale.get("hpa")):
        return ()
    target = {"apiVersion": manifest.api_version, "kind": manifest.kind, "name": manifest.name}
    value = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": manifest.metadata,
        "spec": {**mapping(scale.get("hpa")), "scaleTargetRef": target},
    }
    return (replace(manifest, spec_at=(*manifest.root, *_SCALE), value=value),)
