"""The marked rows of the placement table, placed by a real scheduler beside nodes that must not be taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chartgen.plan.placement import place
from chartgen.plan.placement_types import Placement
from cluster import clusters
from cluster.clusters import Built, Cluster, Devices, Node
from cluster.controlplane import ControlPlane
from cluster.placement import placements
from placement.parts import manifests
from placement.table import Row, rows

MARKED = [row for row in rows() if row.scheduler]
HOST: dict[str, int | str] = {"cpu": 64, "memory": "512Gi", "ephemeral-storage": "500Gi", "pods": 110}


@pytest.fixture
def made(plane: ControlPlane) -> Iterator[Callable[[Cluster], Built]]:
    """Builds a cluster that a test states, and removes it after the test."""
    built: list[Built] = []

    def build(cluster: Cluster) -> Built:
        built.append(clusters.build(plane.api, cluster))
        return built[-1]

    yield build
    for each in built:
        clusters.remove(plane.api, each)


@pytest.mark.parametrize("row", MARKED, ids=lambda row: row.name)
def test_the_scheduler_takes_the_right_node(
    row: Row, plane: ControlPlane, namespace: str, made: Callable[[Cluster], Built]
) -> None:
    """Of a node that fits, one whose labels or devices differ, and one with another taint, only the first is taken."""
    placement = place(row.request(minor=37))
    made(Cluster(about=row.name, source=[], nodes=_nodes(placement), classes=_classes(placement)))
    for manifest in manifests(placement):
        _single(manifest)
        plane.api.must(manifest, namespace=namespace)
    (found,) = placements(plane.api, namespace)
    assert (found.node, found.waits) == ("right", "")
    assert len(found.devices) == (placement.claim.counts[-1] if placement.claim else 0)


def _single(manifest: dict[str, Any]) -> None:
    """One pod is enough to see where pods go."""
    if manifest["kind"] == "Deployment":
        manifest["spec"]["replicas"] = 1


def _nodes(placement: Placement) -> list[Node]:
    """A node that fits, one with other labels, and one with a taint that nobody tolerates."""
    taints = [_taint(entry) for entry in placement.tolerations.value if isinstance(entry, dict)]
    right, wrong = _labels(placement)
    devices = _devices(placement)
    weak = {driver: [_shrunk(group) for group in groups] for driver, groups in devices.items()}
    capacity = {**HOST, **{name: str(count) for name, count in placement.accelerators.value.items()}}
    return [
        _node("other", wrong, capacity, taints, weak),
        _node("closed", right, capacity, ["dedicated=training:NoSchedule"], devices),
        _node("right", right, capacity, taints, devices),
    ]


def _node(
    name: str,
    labels: dict[str, str],
    capacity: dict[str, int | str],
    taints: list[str],
    devices: dict[str, list[Devices]],
) -> Node:
    own = dict(labels)
    instance = own.pop("node.kubernetes.io/instance-type", name)
    return Node(name=name, instance=instance, labels=own, capacity=capacity, taints=taints, devices=devices)


def _taint(toleration: dict[str, Any]) -> str:
    return f"{toleration['key']}={toleration.get('value', 'present')}:{toleration['effect']}"


def _labels(placement: Placement) -> tuple[dict[str, str], dict[str, str]]:
    """Labels that meet every term with the last of its values, and labels that fail the first term."""
    terms: list[Any] = placement.node_affinity.value
    right = {term["key"]: term["values"][-1] for term in terms if term["operator"] == "In"}
    wrong = dict(right)
    if terms:
        key = terms[0]["key"]
        wrong[key] = terms[0]["values"][0] if terms[0]["operator"] == "NotIn" else f"{wrong[key]}-x"
    return right, wrong


def _devices(placement: Placement) -> dict[str, list[Devices]]:
    """Devices that meet the last alternative of the claim, and no other."""
    if placement.claim is None:
        return {}
    spec: Any = placement.claim.spec.value["spec"]
    (entry,) = spec["devices"]["requests"]
    choice = entry.get("firstAvailable", [entry.get("exactly")])[-1]
    words = [term.split("'")[-2] for term in choice["selectors"][0]["cel"]["expression"].split(" && ")]
    driver = "gpu.amd.com" if "amd" in choice["deviceClassName"] else "gpu.nvidia.com"
    sliced = choice["deviceClassName"].startswith("mig.")
    attributes: dict[str, Any] = {"type": "mig" if sliced else "gpu"}
    if len(words) > 1:
        attributes["architecture"] = words[0]
    if sliced:
        attributes["profile"] = words[-1]
    memory = "40Gi" if sliced else words[-1]
    return {
        driver: [Devices(name="device-{i}", count=choice["count"], attributes=attributes, capacity={"memory": memory})]
    }


def _shrunk(group: Devices) -> Devices:
    """The same devices with a little less memory, or another profile."""
    attributes = {**group.attributes, **({"profile": "1g.1gb"} if "profile" in group.attributes else {})}
    return Devices(name=group.name, count=group.count, attributes=attributes, capacity={"memory": "1Gi"})


def _classes(placement: Placement) -> dict[str, Any]:
    """The classes that the drivers install."""
    if placement.claim is None:
        return {}
    nvidia = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == "
    return {
        "gpu.nvidia.com": _class(f"{nvidia}'gpu'"),
        "mig.nvidia.com": _class(f"{nvidia}'mig'"),
        "gpu.amd.com": _class("device.driver == 'gpu.amd.com'"),
    }


def _class(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}
