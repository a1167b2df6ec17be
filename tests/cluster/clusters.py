"""Clusters as data: the nodes, devices and storage of `clusters/*.yaml`, made real in a control plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from cluster.api import Api, wait_for
from cluster.errors import ClusterError
from cluster.wire import Manifest

FOLDER: Final = Path(__file__).with_name("clusters")
TENANTS: Final = "tenants"
"""The namespace of the pods that hold what other teams have taken."""
_SYSTEM: Final = frozenset({TENANTS, "default", "kube-system", "kube-public", "kube-node-lease"})


class Devices(msgspec.Struct, forbid_unknown_fields=True):
    """Devices of one kind on a node, as their driver publishes them in a ResourceSlice."""

    name: str
    """The device's name; {i} is its number, {node} the node's name, here and in the attributes."""
    count: int = 1
    first: int = 0
    """The number of the first one."""
    attributes: dict[str, Any] = {}
    """Text, a whole number, true or false, or {version: text}."""
    capacity: dict[str, str] = {}


class Node(msgspec.Struct, forbid_unknown_fields=True):
    """One node, or `count` nodes of the same make."""

    name: str
    """{n} is the number of the node when there are several."""
    instance: str
    capacity: dict[str, int | str]
    count: int = 1
    region: str = ""
    zone: str = ""
    labels: dict[str, str] = {}
    taints: list[str] = []
    """key=value:Effect or key:Effect."""
    allocatable: dict[str, int | str] = {}
    """Where it differs from the capacity: what the kubelet keeps back."""
    taken: dict[str, int | str] = {}
    """What other pods on the node have already asked for."""
    devices: dict[str, list[Devices]] = {}
    """By driver."""


class Storage(msgspec.Struct, forbid_unknown_fields=True):
    """A storage class."""

    name: str
    provisioner: str
    binding: str = "WaitForFirstConsumer"
    default: bool = False


class Cluster(msgspec.Struct, forbid_unknown_fields=True):
    """One cluster, as its file states it."""

    about: str
    """What kind of cluster it is, in one sentence."""
    source: list[str]
    """Where its names and numbers are from."""
    nodes: list[Node]
    storage: list[Storage] = []
    classes: dict[str, Any] = {}
    """DeviceClasses by name, each with its spec."""
    shared: Any = None
    """A place for YAML anchors."""

    def nodes_by_name(self) -> Iterator[tuple[str, Node]]:
        """Every single node."""
        for node in self.nodes:
            for number in range(node.count):
                yield node.name.replace("{n}", str(number)), node


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A cluster's objects in a control plane, so that they can be removed again."""

    cluster: Cluster
    nodes: dict[str, Manifest] = field(default_factory=dict)
    """The Node objects, by name."""
    others: list[Manifest] = field(default_factory=list)
    """Classes, slices and the pods of other teams."""


def names() -> list[str]:
    """The clusters that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str) -> Cluster:
    """Read one cluster; a mistake in a file is ours, so it raises as it falls."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), Cluster)


def build(api: Api, cluster: Cluster) -> Built:
    """Make a cluster's objects and wait until its nodes are ready (KWOK must run)."""
    if not api.get("v1", "Namespace", TENANTS):
        api.must({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TENANTS}})
        wait_for(lambda: api.get("v1", "ServiceAccount", "default", TENANTS), "the tenants' service account")
    built = Built(cluster=cluster)
    try:
        _make(api, built)
    except ClusterError:
        remove(api, built)
        raise
    return built


def _make(api: Api, built: Built) -> None:
    others = [*_classes(built.cluster), *_storage(built.cluster)]
    for name, node in built.cluster.nodes_by_name():
        built.nodes[name] = api.must(_node(name, node))
        status = {"capacity": node.capacity, "allocatable": {**node.capacity, **node.allocatable}}
        verdict = api.merge(built.nodes[name], {"status": _text(status)}, part="status")
        if not verdict.accepted:
            raise ClusterError(f"node {name}: {verdict.message}")
        others += _slices(name, node)
        if node.taken:
            others.append(_tenant(name, node))
    for item in others:
        built.others.append(api.must(item, namespace=TENANTS))
    wait_for(lambda: ready_nodes(api) >= set(built.nodes), "the nodes' readiness")


def remove(api: Api, *built: Built) -> None:
    """Remove all clusters that there are, and every workload on them.

    A namespace that is being deleted takes no new pods, so no controller makes any again; that it ends itself
    takes longer and is not waited for.
    """
    for namespace in api.list("v1", "Namespace"):
        if namespace["metadata"]["name"] not in _SYSTEM:
            api.delete(namespace)
    for each in built:
        for manifest in [*each.others, *each.nodes.values()]:
            api.delete(manifest, namespace=TENANTS, grace=0)
    wait_for(lambda: _empty(api), "the cluster's end")


def _empty(api: Api) -> bool:
    pods = api.list("v1", "Pod")
    for pod in pods:
        api.delete(pod, grace=0)
    return not pods and not api.list("v1", "Node")


def ready_nodes(api: Api) -> set[str]:
    """The names of the nodes that pods can be bound to."""
    return {
        str(node["metadata"]["name"])
        for node in api.list("v1", "Node")
        for condition in node["status"].get("conditions", [])
        if condition["type"] == "Ready" and condition["status"] == "True"
        if not any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", []))
    }


def _node(name: str, node: Node) -> Manifest:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": node.instance,
        **({"topology.kubernetes.io/region": node.region} if node.region else {}),
        **({"topology.kubernetes.io/zone": node.zone} if node.zone else {}),
        **node.labels,
    }
    spec = {"taints": [_taint(taint) for taint in node.taints]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}


def _taint(text: str) -> Manifest:
    front, _, effect = text.rpartition(":")
    key, _, value = front.partition("=")
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


def _slices(name: str, node: Node) -> Iterator[Manifest]:
    for driver, groups in node.devices.items():
        devices = [
            _device(group, number, name) for group in groups for number in range(group.first, group.first + group.count)
        ]
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{driver}"},
            "spec": {
                "driver": driver,
                "nodeName": name,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                "devices": devices,
            },
        }


def _device(group: Devices, number: int, node: str) -> Manifest:
    def filled(text: str) -> str:
        return text.replace("{i}", str(number)).replace("{node}", node)

    def attribute(value: Any) -> Manifest:
        match value:
            case bool():
                return {"bool": value}
            case int():
                return {"int": value}
            case str():
                return {"string": filled(value)}
            case _:
                return dict(value)

    return {
        "name": filled(group.name),
        "attributes": {key: attribute(value) for key, value in group.attributes.items()},
        "capacity": {key: {"value": value} for key, value in group.capacity.items()},
    }


def _classes(cluster: Cluster) -> Iterator[Manifest]:
    for name, spec in cluster.classes.items():
        metadata = {"name": name}
        yield {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": spec}


def _storage(cluster: Cluster) -> Iterator[Manifest]:
    for storage in cluster.storage:
        default = {"storageclass.kubernetes.io/is-default-class": "true"} if storage.default else {}
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": storage.name, "annotations": default},
            "provisioner": storage.provisioner,
            "volumeBindingMode": storage.binding,
            "allowVolumeExpansion": True,
        }


def _tenant(name: str, node: Node) -> Manifest:
    asked = _text(node.taken)
    extended = {key: value for key, value in asked.items() if "/" in key}
    resources = {"requests": asked, "limits": extended}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"on-{name}", "namespace": TENANTS},
        "spec": {
            "nodeName": name,
            "terminationGracePeriodSeconds": 0,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "tenant", "image": "tenant", "resources": resources}],
        },
    }


def _text(value: Any) -> Any:
    """Quantities as text, as the API writes them."""
    return {key: _text(inner) for key, inner in value.items()} if isinstance(value, Mapping) else str(value)
