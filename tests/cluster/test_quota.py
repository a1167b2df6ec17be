"""Quota and limits of a namespace let a chart in, or keep it out, as its README says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cluster import kwok, workloads
from cluster.api import wait_for
from cluster.clusters import Built
from cluster.controlplane import ControlPlane
from cluster.install import install_chart

OUT: Final = Path(__file__).resolve().parents[2] / "out"
GPUS: Final = "requests.nvidia.com/gpu"
DEVICES: Final = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
REASONS: Final = ("FailedCreate", "FailedResourceClaimCreation")
"""What events call a pod, and a claim, that was refused."""
_ROW: Final = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
_CONTAINER: Final = re.compile(r"must allow a container, and a pod, of (\d+) CPUs and (\w+) of memory")


@pytest.fixture(autouse=True)
def slow_end(plane: ControlPlane) -> Iterator[None]:
    """Pods take two seconds to end, and are counted as long."""
    kwok.start(plane, ending=2)
    yield
    kwok.start(plane)


def needs(chart: str) -> dict[str, str]:
    """The amounts that a chart's README says a quota must leave."""
    text = (OUT / chart / "README.md").read_text(encoding="utf-8")
    return dict(_ROW.findall(text.partition("## What its namespace must allow")[2].partition("## ")[0]))


def largest(chart: str) -> tuple[int, str]:
    """CPUs and memory that the README says a LimitRange must allow."""
    found = _CONTAINER.search((OUT / chart / "README.md").read_text(encoding="utf-8"))
    assert found
    return int(found[1]), found[2]


def limit(plane: ControlPlane, namespace: str, quota: dict[str, str], cpus: int, memory: str) -> None:
    """Give a namespace a quota, and a LimitRange for containers and pods that wants limits equal to requests."""
    hard = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": quota}}
    most: dict[str, Any] = {"max": {"cpu": cpus, "memory": memory}, "maxLimitRequestRatio": {"cpu": 1, "memory": 1}}
    limits = [{"type": kind, **most} for kind in ("Container", "Pod")]
    ranged = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "team"}, "spec": {"limits": limits}}
    for manifest in (hard, ranged):
        plane.api.must(manifest, namespace=namespace)

    def counted() -> bool:
        found = plane.api.get("v1", "ResourceQuota", "team", namespace) or {}
        return set(found.get("status", {}).get("used", {})) == set(quota)

    wait_for(counted, "the quota's first count")


def refusals(plane: ControlPlane, namespace: str, *reasons: str) -> list[str]:
    """What was refused in a namespace, in the server's words."""
    events = plane.api.list("v1", "Event", namespace)
    return [str(event["message"]) for event in events if event["reason"] in (reasons or REASONS[:1])]


def most_replicas(chart: str) -> int:
    """The largest scale of a chart."""
    found = re.search(r"^  maxReplicas: (\d+)$", (OUT / chart / "values.yaml").read_text("utf-8"), re.MULTILINE)
    assert found
    return int(found[1])


def at_the_most(plane: ControlPlane, namespace: str, chart: str) -> None:
    """Install a chart and bring it to its largest scale."""
    assert install_chart(plane, OUT / chart, namespace=namespace).accepted
    workloads.scale(plane.api, namespace, chart, most_replicas(chart))
    wait_for(lambda: workloads.rolled_out(plane.api, namespace, chart), "every replica", 60)


def replace_one(plane: ControlPlane, namespace: str, chart: str) -> None:
    """Delete a pod and wait until it is gone and another one is ready."""
    gone = plane.api.list("v1", "Pod", namespace)[0]
    plane.api.delete(gone)

    def replaced() -> bool:
        pods = {pod["metadata"]["name"] for pod in plane.api.list("v1", "Pod", namespace)}
        return gone["metadata"]["name"] not in pods and workloads.rolled_out(plane.api, namespace, chart)

    wait_for(replaced, "its successor", 60)


@pytest.mark.parametrize(("chart", "cluster"), [("chat-70b", "eks"), ("dra-70b", "dra")])
def test_what_the_readme_says_is_enough(
    chart: str, cluster: str, plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]
) -> None:
    """With exactly the README's amounts a chart reaches its largest scale, and a pod that goes is replaced at once."""
    cluster_of(cluster)
    limit(plane, namespace, needs(chart), *largest(chart))
    at_the_most(plane, namespace, chart)
    replace_one(plane, namespace, chart)
    assert [said for said in refusals(plane, namespace, *REASONS) if "exceeded quota" in said] == []


def test_room_for_the_replicas_alone_delays_what_replaces_them(
    plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]
) -> None:
    """With no room for a pod that ends, its successor is refused until it is gone, and then comes."""
    cluster_of("eks")
    most = most_replicas("chat-70b")
    limit(plane, namespace, {**needs("chat-70b"), "pods": str(most)}, *largest("chat-70b"))
    at_the_most(plane, namespace, "chat-70b")
    assert refusals(plane, namespace) == []
    replace_one(plane, namespace, "chat-70b")
    refused = f"exceeded quota: team, requested: pods=1, used: pods={most}, limited: pods={most}"
    wait_for(lambda: refusals(plane, namespace), "the refusal")
    assert all(refused in said for said in refusals(plane, namespace))


@pytest.mark.parametrize(
    ("quota", "cpus", "says"),
    [
        ({GPUS: "3"}, 0, "exceeded quota: team, requested: requests.nvidia.com/gpu=4"),
        ({"limits.memory": "155Gi"}, 0, "exceeded quota: team, requested: limits.memory=156Gi"),
        ({}, 1, "maximum cpu usage per Container is 17, but limit is 18"),
    ],
)
def test_less_keeps_pods_out(
    quota: dict[str, str],
    cpus: int,
    says: str,
    plane: ControlPlane,
    namespace: str,
    cluster_of: Callable[[str], Built],
) -> None:
    """Short of a pod's amount the install is accepted and no pod is made; the event that the README names says why."""
    cluster_of("eks")
    most, memory = largest("chat-70b")
    limit(plane, namespace, {**needs("chat-70b"), **quota}, most - cpus, memory)
    assert install_chart(plane, OUT / "chat-70b", namespace=namespace).accepted
    wait_for(lambda: refusals(plane, namespace), "the refusal")
    assert all(says in refusal for refusal in refusals(plane, namespace))
    assert plane.api.list("v1", "Pod", namespace) == []
    assert "--field-selector reason=FailedCreate" in (OUT / "chat-70b" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", [DEVICES, GPUS])
def test_less_devices_keep_pods_pending(
    name: str, plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]
) -> None:
    """Short of devices the pod is made and waits for its claim, also where the quota is on the resource's old name."""
    cluster_of("dra")
    limit(plane, namespace, {**needs("dra-70b"), name: "1"}, *largest("dra-70b"))
    assert install_chart(plane, OUT / "dra-70b", namespace=namespace).accepted
    told = REASONS[1]
    says = f"exceeded quota: team, requested: {name}=2"
    wait_for(lambda: any(says in said for said in refusals(plane, namespace, told)), "the refusal")
    (pod,) = plane.api.list("v1", "Pod", namespace)
    assert "nodeName" not in pod["spec"]
    assert f"--field-selector reason={told}" in (OUT / "dra-70b" / "README.md").read_text("utf-8")
