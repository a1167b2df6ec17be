"""Replicas that wait for quota in a queue of the real Kueue: held with a reason, admitted when there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from cluster import clusters, kwok, workloads
from cluster.api import wait_for
from cluster.controllers import kueue, leader_worker_set
from cluster.controlplane import ControlPlane
from cluster.install import chart_of, helm, install_chart, make_namespace
from cluster.wire import Manifest

pytestmark = pytest.mark.xdist_group("queues")

ROOT: Final = Path(__file__).resolve().parents[2]
VERSION: Final = "kueue.x-k8s.io/v1beta2"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
GATE: Final = "kueue.x-k8s.io/admission"
CLIQUE: Final = "nvidia.com/gpu.clique"
GROUPS: Final = """\
model: deepseek-ai/DeepSeek-R1
gpu: GB200
nodes: {most: 2, same_domain: nvidia.com/gpu.clique}
context: 32k
region: hall-2
cluster:
  kubernetes: "1.35"
  cloud: on-prem
  namespace: research
  queue: {name: research, quota: {replicas: 2}}
weights: {storage_class: local-path}
owner: {team: research}
"""


@pytest.fixture(scope="module")
def queues(plane: ControlPlane) -> Iterator[ControlPlane]:
    """Kueue and the LeaderWorkerSet controller on Spot nodes with A100 cards and on racks of GB200."""
    kwok.start(plane, ending=1)
    with leader_worker_set(plane), kueue(plane):
        built = [clusters.build(plane.api, clusters.load(name)) for name in ("gke-spot", "nvl72")]
        yield plane
        clusters.remove(plane.api, *built)
    kwok.start(plane)


@pytest.fixture
def home(queues: ControlPlane) -> Iterator[Callable[[str], None]]:
    """Makes the namespace that a queue belongs to, and removes what the platform team has made for it."""
    before = _of_the_platform(queues)

    def make(name: str) -> None:
        make_namespace(queues, name)

    yield make
    for namespace in ("labelling", "research"):
        queues.api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for item in _of_the_platform(queues):
        if item["metadata"]["uid"] not in {old["metadata"]["uid"] for old in before}:
            queues.api.delete(item)


def _of_the_platform(plane: ControlPlane) -> list[Manifest]:
    kinds = ("ClusterQueue", "ResourceFlavor", "Topology", "WorkloadPriorityClass")
    return [item for kind in kinds for item in plane.api.list(VERSION, kind)]


def set_up(plane: ControlPlane, chart: Path) -> None:
    """What the platform team does: apply each object of the chart's `nodes/`."""
    files = sorted((chart / "nodes").glob("*.yaml"))
    assert files
    for file in files:
        plane.api.must(yaml.safe_load(file.read_text(encoding="utf-8")))


def pods(plane: ControlPlane, namespace: str) -> dict[str, tuple[str, bool]]:
    """The node of each pod, and whether Kueue still holds it."""
    return {
        pod["metadata"]["name"]: (
            pod["spec"].get("nodeName", ""),
            GATE in {gate["name"] for gate in pod["spec"].get("schedulingGates", [])},
        )
        for pod in plane.api.list("v1", "Pod", namespace)
        if "deletionTimestamp" not in pod["metadata"]
    }


def counts(plane: ControlPlane, namespace: str) -> tuple[int, int]:
    """So many pods run on nodes, and so many are held."""
    found = pods(plane, namespace).values()
    return sum(bool(node) for node, _ in found), sum(held and not node for node, held in found)


def reasons(plane: ControlPlane, namespace: str) -> list[str]:
    """Why workloads have no quota, in Kueue's words."""
    return [
        str(condition["message"])
        for workload in plane.api.list(VERSION, "Workload", namespace)
        for condition in workload.get("status", {}).get("conditions", [])
        if (condition["type"], condition["status"]) == ("QuotaReserved", "False")
    ]


def tenant(**requests: Any) -> Manifest:
    """Another team's pod in the queue labelling."""
    container = {"name": "c", "image": "x", "resources": {"requests": requests, "limits": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "other-team", "labels": {QUEUE: "labelling"}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
    }


def test_replicas_wait_for_their_quota(queues: ControlPlane, home: Callable[[str], None], tmp_path: Path) -> None:
    """Pods wait until queue and priority class exist; one more than the quota holds waits until another has ended.

    The chart's README says each of these.
    """
    told = (ROOT / "out" / "kueue-32b" / "README.md").read_text(encoding="utf-8")
    home("labelling")
    answer = install_chart(queues, ROOT / "out" / "kueue-32b", namespace="labelling")
    assert answer.accepted, answer.output
    assert answer.warnings == ()
    workloads.scale(queues.api, "labelling", "kueue-32b", 1)
    wait_for(lambda: counts(queues, "labelling") == (0, 1), "the pod behind its gate")
    assert queues.api.list(VERSION, "Workload", "labelling") == []
    assert "The LocalQueue labelling and the WorkloadPriorityClass nightly must exist" in told
    assert f"pods wait behind the scheduling gate {GATE}" in told
    assert "kubectl get workloads -o yaml says what is missing, and finds none while the priority class" in told

    nightly = {"apiVersion": VERSION, "kind": "WorkloadPriorityClass", "metadata": {"name": "nightly"}, "value": 10}
    queues.api.must(nightly)
    wait_for(lambda: reasons(queues, "labelling") == ["LocalQueue labelling doesn't exist"], "the next reason", 60)
    set_up(queues, chart_of(ROOT / "profiles" / "kueue-32b.yaml", tmp_path))
    wait_for(lambda: counts(queues, "labelling") == (1, 0), "its admission", 60)
    assert {node for node, _ in pods(queues, "labelling").values()} <= {"spot-0", "spot-1"}

    other = queues.api.must(tenant(**{"cpu": 6, "memory": "69Gi", "nvidia.com/gpu": 1}), namespace="labelling")
    wait_for(lambda: counts(queues, "labelling") == (2, 0), "the admission of the other team's pod", 60)
    workloads.scale(queues.api, "labelling", "kueue-32b", 2)
    wait_for(lambda: reasons(queues, "labelling"), "the reason for which the second replica waits", 60)
    assert counts(queues, "labelling") == (2, 1)
    (reason,) = reasons(queues, "labelling")
    assert "insufficient unused quota for nvidia.com/gpu in flavor labelling-gpu, 1 more needed" in reason

    queues.api.delete(other)
    wait_for(lambda: counts(queues, "labelling") == (2, 0), "the second replica's admission", 60)


def test_groups_are_admitted_as_a_whole(queues: ControlPlane, home: Callable[[str], None], tmp_path: Path) -> None:
    """Of three groups two have quota: each lies in one NVLink clique, and no pod of the third is bound."""
    profile = tmp_path / "research.yaml"
    profile.write_text(GROUPS, encoding="utf-8")
    chart = chart_of(profile, tmp_path)
    home("research")
    set_up(queues, chart)
    answer = install_chart(queues, chart, namespace="research")
    assert answer.accepted, answer.output
    workloads.scale(queues.api, "research", "research-group", 3, of=("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"))
    wait_for(lambda: counts(queues, "research") == (4, 2), "two groups of three", 90)
    wait_for(lambda: reasons(queues, "research"), "the reason for which the third waits", 60)
    (reason,) = reasons(queues, "research")
    assert "insufficient unused quota for nvidia.com/gpu in flavor research-gpu, 8 more needed" in reason
    racks: dict[str, set[str]] = {}
    for pod, (node, _) in pods(queues, "research").items():
        racks.setdefault("-".join(pod.split("-")[:3]), set()).add(node[: len("rack-a")])
    options = ["--namespace", "research", "--set", "resources.cpu=17"]
    smaller = helm(queues, "helm4", "upgrade", "research", chart, *options)
    assert not smaller.accepted
    assert "field is immutable" in smaller.output
    told = "an upgrade that changes their size, resources, affinity or tolerations is refused"
    assert told in (chart / "README.md").read_text(encoding="utf-8")
    assert sorted(map(sorted, racks.values())) in ([[""], ["rack-a"], ["rack-a"]], [[""], ["rack-a"], ["rack-b"]])
