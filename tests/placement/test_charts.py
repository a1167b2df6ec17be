"""Whole charts in each mode: composed, rendered by Helm, and every object valid."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from chartgen import api
from chartgen.catalog.engines import engine
from chartgen.catalog.gpus import gpu
from chartgen.chart.compose import compose
from chartgen.plan.allocation_types import Alternative, DeviceClaim, MigSlice
from chartgen.plan.group import GroupRequest, plan_group
from chartgen.plan.kueue import QueueRequest, plan_queue
from chartgen.plan.types import Plan
from chartgen.profile import load_profile
from chartgen.render.check import Checks
from chartgen.render.files import chart_files
from chartgen.validate.helm import engine as helm_engine
from placement.parts import placed, request

PROFILES = Path(__file__).resolve().parents[2] / "profiles"
PAIR = DeviceClaim(
    alternatives=(Alternative(gpu=gpu("h200-sxm-141gb"), count=4), Alternative(gpu=gpu("h100-sxm-80gb"), count=4))
)


@cache
def plan(name: str = "chat-70b") -> Plan:
    return api.plan(load_profile(PROFILES / f"{name}.yaml"))


def objects(changed: Plan) -> dict[str, Any]:
    """The chart's objects by kind, all of them accepted by Helm and by the schemas."""
    chart = compose(changed)
    manifests = Checks(helm=helm_engine(), validator="embedded").manifests(chart, chart_files(chart))
    found = [document for text in manifests.values() for document in yaml.safe_load_all(text) if document]
    return {document["kind"]: document for document in found}


def engine_of(pod: dict[str, Any]) -> dict[str, Any]:
    (container,) = [entry for entry in pod["spec"]["containers"] if entry["name"] == "engine"]
    return dict(container)


def grouped(**changes: Any) -> Plan:
    """chat-70b over two nodes of four cards."""
    place = request("eks", gpus=4, pods=2, replicas=1)
    group = plan_group(GroupRequest(placement=place, engine=engine("0.18.1"), **changes))
    return replace(plan(), group=group)


def test_a_claim_replaces_the_extended_resource() -> None:
    """The pod names its claim, the template asks for it, and no card is asked for twice."""
    found = objects(replace(plan(), placement=placed("on-prem", allocation=PAIR)))
    claim, pod = found["ResourceClaimTemplate"], found["Deployment"]["spec"]["template"]
    assert claim["apiVersion"] == "resource.k8s.io/v1"
    assert claim["spec"]["spec"]["devices"]["requests"][0]["firstAvailable"][0]["count"] == 4
    assert pod["spec"]["resourceClaims"] == [
        {"name": "gpus", "resourceClaimTemplateName": claim["metadata"]["name"]},
    ]
    resources = engine_of(pod)["resources"]
    assert resources["claims"] == [{"name": "gpus"}]
    assert "nvidia.com/gpu" not in {**resources["limits"], **resources["requests"]}


def test_a_slice_is_a_resource_like_any_other() -> None:
    """A MIG slice needs no template of its own: its name stands where the card's did."""
    allocation = MigSlice(profile="3g.71gb")
    found = objects(replace(plan(), placement=placed("on-prem", "h200-sxm-141gb", gpus=1, allocation=allocation)))
    assert engine_of(found["Deployment"]["spec"]["template"])["resources"]["limits"]["nvidia.com/mig-3g.71gb"] == 1


def test_a_group_is_a_leaderworkerset() -> None:
    """Leader and workers differ in rank and probes; requests and scrapes reach leaders, evictions count both."""
    found = objects(grouped())
    assert "Deployment" not in found
    template = found["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]
    leader, worker = engine_of(template["leaderTemplate"]), engine_of(template["workerTemplate"])
    assert template["size"] == 2
    assert leader["args"][leader["args"].index("--node-rank") + 1] == "0"
    assert worker["args"][worker["args"].index("--node-rank") + 1] == "$(LWS_WORKER_INDEX)"
    assert "--headless" in worker["args"]
    assert "startupProbe" in leader
    assert not {"startupProbe", "livenessProbe", "readinessProbe", "ports"} & set(worker)
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    assert found["Service"]["spec"]["selector"][index] == "0"
    assert index not in found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]
    assert found["PodMonitor"]["spec"]["selector"]["matchLabels"][index] == "0"
    assert found["ScaledObject"]["spec"]["scaleTargetRef"]["kind"] == "LeaderWorkerSet"


def test_a_group_asks_for_one_zone_per_group() -> None:
    """The preference is for pods of the same group, by a key that differs between groups."""
    pod = objects(grouped())["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    (term,) = pod["spec"]["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["podAffinityTerm"]["matchLabelKeys"] == ["leaderworkerset.sigs.k8s.io/group-index"]
    assert term["podAffinityTerm"]["topologyKey"] == "topology.kubernetes.io/zone"


def test_a_compute_domain_gives_every_pod_its_channel() -> None:
    """On request, the domain's channel is claimed by leader and workers."""
    place = request("gke", "gb200-186gb", gpus=4, pods=2, replicas=1)
    group = plan_group(GroupRequest(placement=place, engine=engine("0.18.1"), compute_domain=True))
    found = objects(replace(plan(), group=group))
    channel = found["ComputeDomain"]["spec"]["channel"]["resourceClaimTemplate"]["name"]
    template = found["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]
    for pod in (template["leaderTemplate"], template["workerTemplate"]):
        assert pod["spec"]["resourceClaims"] == [{"name": "channel", "resourceClaimTemplateName": channel}]
        assert engine_of(pod)["resources"]["claims"] == [{"name": "channel"}]


@pytest.mark.parametrize("workload", ["Deployment", "LeaderWorkerSet"])
def test_a_queue_is_named_on_the_workload(workload: str) -> None:
    """Kueue reads its labels from the workload's own metadata."""
    base = plan() if workload == "Deployment" else grouped()
    queue = plan_queue(QueueRequest(queue="search", topology_label="cloud.example/rack"), pods=2)
    found = objects(replace(base, queue=queue))
    assert found[workload]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "search"
    spec = found[workload]["spec"]
    pod = spec["template"] if workload == "Deployment" else spec["leaderWorkerTemplate"]["workerTemplate"]
    assert pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] == "cloud.example/rack"
