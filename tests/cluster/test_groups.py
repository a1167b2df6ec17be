"""Replicas over several nodes, made by the real LeaderWorkerSet controller: placed, updated, restarted, scaled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cluster import clusters, kwok, workloads
from cluster.api import wait_for
from cluster.controllers import leader_worker_set
from cluster.controlplane import ControlPlane
from cluster.install import chart_of, helm, install_chart, make_namespace
from cluster.placement import placements
from cluster.wire import Manifest

pytestmark = pytest.mark.xdist_group("groups")

CHART: Final = Path(__file__).resolve().parent.parent.parent / "out" / "lws-r1"
KIND: Final = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
PREFIX: Final = "leaderworkerset.sigs.k8s.io"
NAME: Final = "lws-r1-group"
SPACE: Final = "groups"
RACKS: Final = """\
model: deepseek-ai/DeepSeek-R1
gpu: GB200
nodes: {most: 2, same_domain: nvidia.com/gpu.clique}
context: 32k
region: hall-2
cluster: {kubernetes: "1.35", cloud: on-prem}
weights: {storage_class: local-path}
owner: {team: research}
"""


@pytest.fixture(scope="module")
def groups(plane: ControlPlane) -> Iterator[ControlPlane]:
    """The controller where two groups of H100 nodes fit, one in each zone, with lws-r1 at its minimum of two."""
    kwok.start(plane, ending=1)
    with leader_worker_set(plane):
        built = [clusters.build(plane.api, clusters.load(name)) for name in ("two-zones", "nvl72")]
        make_namespace(plane, SPACE)
        answer = install_chart(plane, CHART, namespace=SPACE)
        assert answer.accepted, answer.output
        assert answer.warnings == ()
        assert workloads.scale_to_minimum(plane.api, SPACE) == {NAME: 2}
        yield plane
        clusters.remove(plane.api, *built)
    kwok.start(plane)


@pytest.fixture
def settled(groups: ControlPlane) -> Iterator[ControlPlane]:
    """The same, with both groups ready before the test and after it."""
    wait_for(lambda: ready(groups) == 2, "both groups", 60)
    yield groups
    workloads.scale(groups.api, SPACE, NAME, 2, of=KIND)
    wait_for(lambda: ready(groups) == 2, "both groups", 60)


def ready(plane: ControlPlane) -> int:
    """So many groups are ready and of the newest form."""
    item = plane.api.get(*KIND, NAME, SPACE) or {}
    status = item.get("status", {})
    return min(int(status.get(key, 0)) for key in ("readyReplicas", "updatedReplicas"))


def pods(plane: ControlPlane) -> dict[str, list[Manifest]]:
    """The pods of each group, leader first."""
    found = defaultdict(list)
    for pod in sorted(plane.api.list("v1", "Pod", SPACE), key=lambda each: str(each["metadata"]["name"])):
        found[pod["metadata"]["labels"][f"{PREFIX}/group-index"]].append(pod)
    return dict(found)


def uids(plane: ControlPlane) -> dict[str, set[str]]:
    """Who the pods of each group are."""
    return {group: {pod["metadata"]["uid"] for pod in members} for group, members in pods(plane).items()}


def test_each_group_lies_in_one_zone(settled: ControlPlane) -> None:
    """Each group has a whole node for each pod, both in one zone."""
    assert {pod.pod: (pod.node[0], pod.ready) for pod in placements(settled.api, SPACE)} in [
        {f"{NAME}-{group}{pod}": (zone, True) for group, zone in enumerate(zones) for pod in ("", "-1")}
        for zones in ("ab", "ba")
    ]
    assert len({pod.node for pod in placements(settled.api, SPACE)}) == 4


def test_pods_find_their_leader_before_it_is_ready(settled: ControlPlane) -> None:
    """The leader's address lies in a headless Service that has its pod at once, unlike the Service for clients."""
    services = {item["metadata"]["name"]: item["spec"] for item in settled.api.list("v1", "Service", SPACE)}
    for group, members in pods(settled).items():
        leader = members[0]
        for rank, pod in enumerate(members):
            (container,) = pod["spec"]["containers"]
            env = {item["name"]: item.get("value") for item in container["env"]}
            host, service, namespace = str(env["LWS_LEADER_ADDRESS"]).split(".")
            assert (host, namespace) == (leader["spec"]["hostname"], SPACE)
            assert (env["LWS_GROUP_SIZE"], env["LWS_WORKER_INDEX"]) == ("2", str(rank))
            assert leader["spec"]["subdomain"] == service
            assert services[service]["clusterIP"] == "None"
            assert services[service]["publishNotReadyAddresses"] is True
            assert services[service]["selector"].items() <= leader["metadata"]["labels"].items()
        clients = services["lws-r1"]["selector"].items()
        assert [clients <= pod["metadata"]["labels"].items() for pod in members] == [True, False], group


def test_update_needs_no_spare_node(settled: ControlPlane) -> None:
    """A new image rolls out on a full cluster, one group after the other."""
    options = ["--namespace", SPACE, "--set", "image.tag=v0.33.1", "--reuse-values"]
    fewest = 2

    def done() -> bool:
        nonlocal fewest
        item = settled.api.get(*KIND, NAME, SPACE) or {}
        fewest = min(fewest, item["status"].get("readyReplicas", 0))
        images = {pod["spec"]["containers"][0]["image"] for members in pods(settled).values() for pod in members}
        return images == {"vllm/vllm-openai:v0.33.1"} and ready(settled) == 2

    answer = helm(settled, "helm4", "upgrade", "lws-r1", CHART, *options)
    assert answer.accepted, answer.output
    wait_for(done, "the update", 90)
    assert fewest == 1


@pytest.mark.parametrize("end", ["crash", "eviction"])
def test_loss_of_a_worker_restarts_its_group(settled: ControlPlane, end: str) -> None:
    """When a worker's engine or its node goes, all pods of its group are made anew and the other group stays."""
    before = uids(settled)
    worker = pods(settled)["0"][1]
    if end == "crash":
        crashed = [{**item, "restartCount": 1} for item in worker["status"]["containerStatuses"]]
        settled.api.merge(worker, {"status": {"containerStatuses": crashed}}, part="status")
    else:
        wait_for(lambda: settled.api.evict(worker).accepted, "the budget's leave")
        (other, _) = pods(settled)["1"]
        refused = settled.api.evict(other)
        assert refused.status == 429
        assert "disruption budget" in refused.message
    wait_for(lambda: not uids(settled).get("0", set()) & before["0"] and ready(settled) == 2, "the restart", 60)
    assert uids(settled)["1"] == before["1"]


def test_scale_counts_groups(settled: ControlPlane) -> None:
    """The scale of a chart for groups counts leaders only; one replica fewer is one whole group fewer."""
    path = f"{settled.api.path(*KIND, SPACE, NAME)}/scale"
    scale = settled.api.send("GET", path).body
    assert scale["status"]["replicas"] == 2
    chosen = settled.api.list("v1", "Pod", SPACE, labels=scale["status"]["selector"])
    assert [pod["metadata"]["name"] for pod in chosen] == [f"{NAME}-0", f"{NAME}-1"]
    before = uids(settled)
    workloads.scale(settled.api, SPACE, NAME, 1, of=KIND)
    wait_for(lambda: uids(settled) == {"0": before["0"]}, "the smaller scale")


def test_each_group_gets_a_rack(groups: ControlPlane, tmp_path: Path) -> None:
    """Groups that want a rack each get one, with all their pods in one NVLink clique, and a third one waits."""
    profile = tmp_path / "racks.yaml"
    profile.write_text(RACKS, encoding="utf-8")
    make_namespace(groups, "racks")
    chart = chart_of(profile, tmp_path)
    answer = install_chart(groups, chart, namespace="racks")
    assert answer.accepted, answer.output
    workloads.scale(groups.api, "racks", "racks-group", 3, of=KIND)
    racks = defaultdict(list)
    for pod in placements(groups.api, "racks"):
        racks[pod.node[: len("rack-a")]].append(pod)
    assert [(rack, len(found)) for rack, found in sorted(racks.items())] == [("", 1), ("rack-a", 2), ("rack-b", 2)]
    assert all(worker.pod == f"{leader.pod}-1" for leader, worker in (racks["rack-a"], racks["rack-b"]))
    assert "didn't match pod anti-affinity rules" in racks[""][0].waits
    told = "a replica more than there are domains with 2 free nodes waits"
    assert told in (chart / "README.md").read_text(encoding="utf-8")
