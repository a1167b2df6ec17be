"""Node side and queues: what the platform team needs, as objects that its controllers accept."""

from __future__ import annotations

from typing import Any

import pytest

from chartgen.kernel.units import GIB, Bytes
from chartgen.plan.allocation_types import DeviceClaim, MigSlice
from chartgen.plan.kueue import QueueRequest, Quota, plan_queue, quota_objects
from chartgen.plan.node_pool import NodeSide, node_side, nodes_needed
from chartgen.plan.placement_types import HostNeed
from chartgen.validate.embedded import check_objects
from placement.parts import placed, request

HOST = HostNeed(cpus=18, memory=Bytes(128 * GIB))


def side(cloud: str, card: str = "h100-sxm-80gb", **changes: Any) -> NodeSide:
    return node_side(request(cloud, card, **changes), maximum=4, name="chat-70b")


@pytest.mark.parametrize("cloud", ["eks-karpenter", "eks-auto", "aks-nap"])
def test_karpenter_pools_pass_the_schema(cloud: str) -> None:
    """The NodePool is valid, asks for the card's labels, and keeps empty nodes for ten minutes."""
    (pool,) = side(cloud).objects
    assert check_objects([("test", pool.value)], "1.34") == []
    spec: Any = pool.value["spec"]
    assert spec["disruption"]["consolidateAfter"] == "600s"
    assert spec["limits"] == {"nvidia.com/gpu": "16"}
    assert spec["template"]["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]


def test_a_pool_of_slices_carries_the_label_that_pods_ask_for() -> None:
    """Karpenter knows labels of nodes to come only from the NodePool."""
    allocation = MigSlice(profile="3g.40gb", strategy="single")
    found = side("eks-karpenter", gpus=1, allocation=allocation)
    spec: Any = found.objects[0].value["spec"]
    assert spec["template"]["metadata"]["labels"] == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb"}
    assert any("nvidia.com/mig.config" in note for note in found.notes)


@pytest.mark.parametrize(("gpus", "pods", "maximum", "nodes"), [(4, 1, 4, 2), (8, 1, 3, 3), (2, 1, 5, 2), (8, 2, 2, 4)])
def test_nodes_that_so_many_replicas_fill(gpus: int, pods: int, maximum: int, nodes: int) -> None:
    """Replicas share nodes of eight as far as they go in."""
    assert nodes_needed(request(gpus=gpus, pods=pods), maximum) == nodes


def test_eks_gets_a_managed_node_group() -> None:
    """The smallest type that holds a pod, tainted, with room for the maximum."""
    (config,) = side("eks", zones=("us-east-1a",)).objects
    groups: Any = config.value["managedNodeGroups"]
    (group,) = groups
    assert group["instanceType"] == "p5.48xlarge"
    assert group["maxSize"] == 2
    assert group["availabilityZones"] == ["us-east-1a"]


def test_gke_and_aks_get_their_commands() -> None:
    """The command names machine, card and taint; GKE sells half nodes of H100 as Spot only; slices are cut."""
    (gcloud,) = side("gke").commands
    assert "--machine-type a3-highgpu-8g" in gcloud
    assert "--accelerator type=nvidia-h100-80gb,count=8,gpu-driver-version=latest" in gcloud
    (spot,) = side("gke", workload="batch", spot=True).commands
    assert "--machine-type a3-highgpu-4g" in spot
    sliced = MigSlice(profile="1g.10gb", strategy="single")
    (cut,) = side("gke", "a100-sxm-80gb", gpus=1, allocation=sliced).commands
    assert "gpu-partition-size=1g.10gb" in cut
    (az,) = side("aks", "a100-pcie-80gb", gpus=1, allocation=MigSlice(profile="3g.40gb")).commands
    assert "--node-vm-size Standard_NC24ads_A100_v4" in az
    assert "--gpu-instance-profile MIG3g" in az


def test_own_hardware_is_tainted_and_cut_by_label() -> None:
    """The MIG manager cuts the cards of a node that carries its label."""
    commands = side("on-prem", "h200-sxm-141gb", gpus=1, allocation=MigSlice(profile="3g.71gb")).commands
    assert commands == (
        "kubectl taint node NODE nvidia.com/gpu=present:NoSchedule",
        "kubectl label node NODE nvidia.com/mig.config=all-3g.71gb --overwrite",
    )


def test_a_queue_is_two_labels() -> None:
    """Only labels go on the workload; a group also says that it must lie together."""
    one = plan_queue(QueueRequest(queue="team-a", priority_class="prod"), pods=1)
    assert one.labels.value == {"kueue.x-k8s.io/queue-name": "team-a", "kueue.x-k8s.io/priority-class": "prod"}
    assert one.pod_annotations.value == {}
    group = plan_queue(QueueRequest(queue="team-a", topology_label="cloud.example/rack"), pods=2)
    assert group.pod_annotations.value == {
        "kueue.x-k8s.io/podset-required-topology": "cloud.example/rack",
        "kueue.x-k8s.io/podset-group-name": "group",
    }


def test_quota_objects_pass_the_schema_and_count_everything() -> None:
    """CPU, memory and GPUs of three replicas, with one more to borrow, in Kueue's v1beta2."""
    quota = Quota(queue="search", namespace="search", replicas=3, borrow=1, cohort="company")
    objects = quota_objects(quota, placed("gke", "l4-24gb", gpus=1), HOST, pods=1)
    assert check_objects([("test", entry.value) for entry in objects], "1.34") == []
    cluster: Any = objects[1].value["spec"]
    (group,) = cluster["resourceGroups"]
    assert group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu"]
    (flavor,) = group["flavors"]
    assert flavor["resources"] == [
        {"name": "cpu", "nominalQuota": "54", "borrowingLimit": "18"},
        {"name": "memory", "nominalQuota": "384Gi", "borrowingLimit": "128Gi"},
        {"name": "nvidia.com/gpu", "nominalQuota": "3", "borrowingLimit": "1"},
    ]


def test_quota_for_groups_of_one_domain_has_a_topology() -> None:
    """A flavor without one admits no pod that asks for a domain, and Kueue wants a label of the nodes beside it."""
    quota = Quota(queue="search", namespace="search", replicas=2, topology_label="example.com/rack")
    objects = quota_objects(quota, placed("on-prem", "h100-sxm-80gb", gpus=8), HOST, pods=2)
    assert check_objects([("test", entry.value) for entry in objects], "1.34") == []
    topology: Any
    flavor: Any
    topology, flavor = (entry.value for entry in objects[:2])
    levels = [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    assert topology["spec"]["levels"] == levels
    assert flavor["spec"]["topologyName"] == topology["metadata"]["name"]
    assert flavor["spec"]["nodeLabels"]


def test_a_claim_has_no_extended_resource_to_count() -> None:
    """Quota on claims needs device class mappings in Kueue's own configuration, so none is made here."""
    quota = Quota(queue="search", namespace="search", replicas=3)
    with pytest.raises(ValueError, match="claim"):
        quota_objects(quota, placed("on-prem", allocation=DeviceClaim()), HOST, pods=1)
