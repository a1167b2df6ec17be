"""Dynamo's graph: a component for each role, of which the workers run engines (ai-dynamo/dynamo, deploy/operator/api).

v1alpha1 keeps `services` by name, each with resources and extraPodSpec; v1beta1 keeps a list of `components`, each
with a pod template whose container `main` is the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest, at, items, mapping, mappings
from chartgen.lint.operators.completion import Made, completed
from chartgen.lint.workloads import PodSite, pods_of_replica

_NO_ENGINE: Final = frozenset({"frontend", "planner", "epp", "main"})
_RESOURCES: Final = {"gpu": "nvidia.com/gpu", "cpu": "cpu", "memory": "memory"}
_PROBES: Final = ("startupProbe", "livenessProbe", "readinessProbe")


def made(manifest: Manifest) -> Made:
    """The pods of a graph's workers."""
    return Made(pods=tuple(_pods(manifest)))


def _pods(manifest: Manifest) -> Iterator[PodSite]:
    spec = mapping(manifest.value.get("spec"))
    for name, service in mapping(spec.get("services")).items():
        if isinstance(service, dict) and str(service.get("componentType")) not in _NO_ENGINE:
            yield _service(manifest, service, ("spec", "services", name))
    for index, component in enumerate(mappings(spec.get("components"))):
        if str(component.get("type")) not in _NO_ENGINE:
            yield from _component(manifest, component, ("spec", "components", index))


def _service(manifest: Manifest, service: dict[str, Any], where: tuple[Step, ...]) -> PodSite:
    extra = mapping(service.get("extraPodSpec"))
    container: dict[str, Any] = {
        "name": "main",
        **{key: service[key] for key in _PROBES if key in service},
        "env": items(service.get("envs")),
        **mapping(extra.get("mainContainer")),
    }
    resources = _resources(mapping(service.get("resources")))
    if resources:
        container["resources"] = resources
    if isinstance(service.get("envFromSecret"), str):
        container["envFrom"] = [{"secretRef": {"name": service["envFromSecret"]}}]
    pod = {key: value for key, value in extra.items() if key not in {"mainContainer", "containers"}}
    here = (*where, "extraPodSpec", "mainContainer")
    return completed(manifest, "dynamo", container, pod, at=here, group_size=_nodes(service))


def _component(manifest: Manifest, component: dict[str, Any], where: tuple[Step, ...]) -> Iterator[PodSite]:
    pod = mapping(at(component, ("podTemplate", "spec")))
    for index, container in enumerate(mappings(pod.get("containers"))):
        if container.get("name", "main") == "main":
            here = (*where, "podTemplate", "spec", "containers", index)
            yield completed(manifest, "dynamo", container, pod, at=here, group_size=_nodes(component))


def _resources(written: dict[str, Any]) -> dict[str, Any]:
    """Dynamo's short names as Kubernetes' own; `custom` holds the rest by full name."""
    found: dict[str, Any] = {}
    for part in ("limits", "requests"):
        amounts = mapping(written.get(part))
        resource = str(amounts.get("gpuType") or _RESOURCES["gpu"])
        named = {_RESOURCES[key]: amounts[key] for key in ("cpu", "memory") if key in amounts}
        if "gpu" in amounts:
            named[resource] = amounts["gpu"]
        named |= mapping(amounts.get("custom"))
        if named:
            found[part] = named
    return found


def _nodes(component: dict[str, Any]) -> int:
    return pods_of_replica(at(component, ("multinode", "nodeCount")))
