"""Every cluster of `clusters/` can be built, and what runs there runs nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from cluster import clusters
from cluster.clusters import Built
from cluster.controlplane import ControlPlane
from cluster.placement import placements
from cluster.wire import Manifest

WHOLE = "nvidia.com/gpu"


@pytest.mark.parametrize("name", clusters.names())
def test_cluster_is_as_its_file_says(name: str, plane: ControlPlane, cluster_of: Callable[[str], Built]) -> None:
    """Each node is ready, with the capacity, the labels and the taints of the file, and its devices published."""
    cluster_of(name)
    cluster = clusters.load(name)
    assert cluster.about
    assert cluster.source
    nodes = {node["metadata"]["name"]: node for node in plane.api.list("v1", "Node")}
    slices = Counter(item["spec"]["nodeName"] for item in plane.api.list("resource.k8s.io/v1", "ResourceSlice"))
    for made, stated in cluster.nodes_by_name():
        node = nodes[made]
        for resource, amount in stated.capacity.items():
            assert node["status"]["capacity"][resource] in {str(amount), f"{str(amount).removesuffix('Mi')}Mi"} or (
                resource in {"memory", "ephemeral-storage"}
            )
        assert stated.labels.items() <= node["metadata"]["labels"].items()
        keys = {taint["key"] for taint in node["spec"].get("taints", [])}
        assert keys == {taint.partition(":")[0].partition("=")[0] for taint in stated.taints}
        assert slices[made] == len(stated.devices)
    assert len(nodes) == sum(node.count for node in cluster.nodes)


def replicas(count: int, resource: str, each: int, **spec: Any) -> Manifest:
    """A Deployment whose pods each want so many of a resource, and tolerate every taint."""
    labels = {"app": "x"}
    container = {"name": "c", "image": "x", "resources": {"limits": {resource: each}}}
    pod = {"tolerations": [{"operator": "Exists"}], "containers": [container], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x"},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


@pytest.mark.parametrize(
    ("name", "resource", "each", "fit"),
    [
        ("eks", WHOLE, 8, 2),  # two H100 nodes
        ("eks", WHOLE, 4, 6),  # two on each H100 node, one on each L40S node
        ("gke", WHOLE, 2, 10),  # four on each H100 node, one on each L4 node
        ("aks", WHOLE, 8, 2),
        # two on the H100s, one on the A100s, one on the L40Ss, one on shares of two L4s: labels prevent the last
        ("on-prem", WHOLE, 4, 5),
        ("fragmented", WHOLE, 4, 0),  # six are free, but two at most on one node
        ("fragmented", WHOLE, 2, 2),
        ("fragmented", WHOLE, 1, 6),
        ("full", WHOLE, 4, 2),
        ("mig-single", WHOLE, 8, 8),  # slices count as GPUs: seven of eight fit there, which labels must prevent
        ("mig-mixed", "nvidia.com/mig-3g.40gb", 1, 8),
        ("mig-mixed", WHOLE, 1, 0),
        ("dra", WHOLE, 8, 2),  # by the class that owns the name
        ("nvl72", WHOLE, 4, 20),
        ("amd", "amd.com/gpu", 8, 2),
    ],
)
def test_so_many_replicas_fit(
    name: str,
    resource: str,
    each: int,
    fit: int,
    plane: ControlPlane,
    namespace: str,
    cluster_of: Callable[[str], Built],
) -> None:
    """As many replicas are bound as the free GPUs of single nodes allow; one more waits for the resource."""
    cluster_of(name)
    plane.api.must(replicas(fit + 1, resource, each), namespace=namespace)
    placed = placements(plane.api, namespace)
    assert sum(bool(pod.node) for pod in placed) == fit
    (left,) = (pod for pod in placed if not pod.node)
    assert "cannot allocate" in left.waits or f"Insufficient {resource}" in left.waits
