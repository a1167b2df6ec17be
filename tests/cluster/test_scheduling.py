"""Real schedulers bind fake nodes: devices, readiness, grace periods, storage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from cluster import clusters, kwok
from cluster.api import wait_for
from cluster.clusters import Built
from cluster.controlplane import MINORS, ControlPlane
from cluster.install import make_namespace
from cluster.placement import placements
from cluster.wire import Manifest

EVERYTHING = [{"operator": "Exists"}]


def pod(name: str, **spec: Any) -> Manifest:
    """A pod of one container that tolerates every taint."""
    container = {"name": "c", "image": "x", "resources": spec.pop("resources", {})}
    defaults = {"tolerations": EVERYTHING, "terminationGracePeriodSeconds": 0, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {**defaults, **spec}}


def claim_template(name: str, expression: str, count: int = 1) -> Manifest:
    """A template of claims on whole GPUs that an expression selects."""
    exactly = {
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "selectors": [{"cel": {"expression": expression}}],
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def claiming(name: str, template: str) -> Manifest:
    """A pod whose container has a claim of a template."""
    claims = [{"name": "gpu", "resourceClaimTemplateName": template}]
    return pod(name, resourceClaims=claims, resources={"claims": [{"name": "gpu"}]})


@pytest.mark.parametrize("minor", MINORS)
def test_claim_is_bound_and_the_second_waits(planes: Callable[[str], ControlPlane], minor: str) -> None:
    """Of two pods that each want all eight large GPUs, one gets those of the H200 node and the other waits."""
    plane = planes(minor)
    built = clusters.build(plane.api, clusters.load("dra"))
    space = f"claims-{minor.replace('.', '-')}"
    make_namespace(plane, space)
    large = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('100Gi')) >= 0"
    plane.api.must(claim_template("large", large, count=8), namespace=space)
    for name in ("first", "second"):
        plane.api.must(claiming(name, "large"), namespace=space)
        placed = placements(plane.api, space)
    first, second = placed
    assert (first.node, first.devices) == ("h200", tuple(f"h200/gpu-{number}" for number in range(8)))
    assert second.node == ""
    assert "cannot allocate all claims" in second.waits
    clusters.remove(plane.api, built)


def test_classic_resource_is_a_claim_on_a_dra_cluster(
    plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]
) -> None:
    """On Kubernetes 1.37 a limit of nvidia.com/gpu is served by the class that owns the name."""
    cluster_of("dra")
    plane.api.must(pod("classic", resources={"limits": {"nvidia.com/gpu": 2}}), namespace=namespace)
    (placed,) = placements(plane.api, namespace)
    assert placed.node in {"h100", "h200"}
    assert len(placed.devices) == 2


def test_slice_of_the_wrong_size_waits(plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]) -> None:
    """A claim on a MIG slice larger than any there is waits; one that fits gets a slice."""
    cluster_of("dra")
    for name, size in (("fits", "30Gi"), ("large", "60Gi")):
        template = claim_template(name, f"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{size}')) >= 0")
        template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "mig.nvidia.com"
        plane.api.must(template, namespace=namespace)
        plane.api.must(claiming(name, name), namespace=namespace)
    fits, large = placements(plane.api, namespace)
    assert fits.devices == ("mig/gpu-1-mig-3g40gb-9-0",)
    assert (large.node, large.devices) == ("", ())


@pytest.fixture
def slow(plane: ControlPlane) -> Iterator[ControlPlane]:
    """The control plane with a cold start of five seconds and each pod's own grace period."""
    kwok.start(plane, cold_start=5)
    yield plane
    kwok.start(plane)


def started(plane: ControlPlane, namespace: str, name: str) -> dict[str, str]:
    """The conditions of a pod once it runs."""

    def conditions() -> dict[str, str]:
        found = plane.api.get("v1", "Pod", name, namespace) or {}
        running = found.get("status", {}).get("phase") == "Running"
        return {item["type"]: item["status"] for item in found["status"]["conditions"]} if running else {}

    return wait_for(conditions, f"{name} runs")


def test_pod_is_ready_after_its_cold_start(
    slow: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]
) -> None:
    """A pod runs at once, on a loopback address, and is ready only when its cold start is over."""
    cluster_of("full")
    slow.api.must(pod("p"), namespace=namespace)
    assert started(slow, namespace, "p")["Ready"] == "False"
    begun = time.monotonic()
    wait_for(lambda: started(slow, namespace, "p")["Ready"] == "True", "readiness")
    assert time.monotonic() - begun > 1
    found = slow.api.get("v1", "Pod", "p", namespace)
    assert found is not None
    assert ip_address(found["status"]["podIP"]) in ip_network(kwok.pod_addresses(slow))


def test_pod_takes_its_grace_period(plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]) -> None:
    """A deleted pod stays until its grace period is over, and then is gone."""
    cluster_of("full")
    plane.api.must(pod("p", terminationGracePeriodSeconds=3), namespace=namespace)
    started(plane, namespace, "p")
    begun = time.monotonic()
    plane.api.delete(pod("p"), namespace=namespace)
    wait_for(lambda: plane.api.get("v1", "Pod", "p", namespace) is None, "the pod's end")
    assert time.monotonic() - begun > 1.5


def test_gates_are_honoured(plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]) -> None:
    """A pod with a scheduling gate is not bound; one with a readiness gate is ready when the gate opens."""
    cluster_of("full")
    plane.api.must(pod("gated", schedulingGates=[{"name": "example.org/quota"}]), namespace=namespace)
    kind = "example.org/warm"
    made = plane.api.must(pod("p", readinessGates=[{"conditionType": kind}]), namespace=namespace)
    wait_for(lambda: started(plane, namespace, "p")["ContainersReady"] == "True", "the containers")
    assert started(plane, namespace, "p")["Ready"] == "False"
    found = plane.api.get("v1", "Pod", "p", namespace)
    assert found is not None
    opened = [*found["status"]["conditions"], {"type": kind, "status": "True"}]
    plane.api.merge(made, {"status": {"conditions": opened}}, part="status")
    wait_for(lambda: started(plane, namespace, "p")["Ready"] == "True", "the open gate")
    gated, _ = placements(plane.api, namespace)
    assert (gated.pod, gated.node) == ("gated", "")


def test_claims_get_volumes(plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]) -> None:
    """A claim of a class that binds at first use gets its volume with the pod; one of no class there waits."""
    cluster_of("eks")
    for name, storage in (("there", "gp3"), ("elsewhere", "no-such-class")):
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage,
                "resources": {"requests": {"storage": "10Gi"}},
            },
        }
        plane.api.must(claim, namespace=namespace)
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
        plane.api.must(pod(name, volumes=[volume]), namespace=namespace)
    elsewhere, there = placements(plane.api, namespace)
    assert there.node
    assert "unbound immediate PersistentVolumeClaims" in elsewhere.waits
