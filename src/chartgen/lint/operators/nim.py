"""NVIDIA's NIMService: a container's fields, and how it is scaled and exposed, beside each other in spec.

Fields: NVIDIA/k8s-nim-operator, api/apps/v1alpha1/nimservice_types.go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from chartgen.lint.manifest import Manifest, at, items, mapping
from chartgen.lint.operators.completion import Made, completed
from chartgen.lint.workloads import PodSite

_PROBES: Final = ("startupProbe", "livenessProbe", "readinessProbe")
_SCALE: Final = ("spec", "scale", "hpa")


def made(manifest: Manifest) -> Made:
    """The pod of a NIMService, and its autoscaler where scale.enabled says so."""
    return Made(objects=_scalers(manifest), pods=(_pod(manifest),))


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
    stages = at(spec, ("multiNode", "parallelism", "pipeline"))
    size = stages if isinstance(stages, int) else 1
    return completed(manifest, "nim", container, pod, at=("spec",), group_size=size)


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
