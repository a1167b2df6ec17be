"""Placement of whole GPUs: what the scheduler is told, and what is refused before it can hang."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from chartgen.catalog.clouds import cloud_names, load_cloud
from chartgen.catalog.gpus import gpu
from chartgen.kernel.decision import Decision
from chartgen.kernel.units import GIB, Bytes, Seconds
from chartgen.plan.allocation_types import DeviceClaim, WholeGpus
from chartgen.plan.placement_types import HostNeed
from chartgen.profile import load_profile
from chartgen.validate.embedded import check_objects
from placement.parts import manifests, placed, refused, terms


@pytest.mark.parametrize(
    ("cloud", "key", "wanted"),
    [
        ("eks", "node.kubernetes.io/instance-type", ("In", "p5.48xlarge")),
        ("eks-karpenter", "karpenter.k8s.aws/instance-gpu-name", ("In", "h100")),
        ("eks-auto", "eks.amazonaws.com/instance-gpu-name", ("In", "h100")),
        ("gke", "cloud.google.com/gke-accelerator", ("In", "nvidia-h100-80gb", "nvidia-h100-mega-80gb")),
        ("aks", "node.kubernetes.io/instance-type", ("In", "Standard_ND96isr_H100_v5")),
        ("on-prem", "nvidia.com/gpu.product", ("In", "NVIDIA-H100-80GB-HBM3")),
    ],
)
def test_nodes_are_picked_by_the_label_of_the_platform(cloud: str, key: str, wanted: tuple[str, ...]) -> None:
    """Each platform's own label picks the card, with exact values."""
    assert terms(placed(cloud))[key] == wanted


def test_region_and_zones_are_required_where_nodes_carry_them() -> None:
    """A cloud's nodes must be in the region and zones of the profile; own hardware has no region label."""
    found = terms(placed("eks", zones=("us-east-1a", "us-east-1b")))
    assert found["topology.kubernetes.io/region"] == ("In", "us-east-1")
    assert found["topology.kubernetes.io/zone"] == ("In", "us-east-1a", "us-east-1b")
    own = placed("on-prem")
    assert "topology.kubernetes.io/region" not in terms(own)
    assert any("region label" in note for note in own.notes)


def test_the_gpu_taint_is_tolerated_under_every_value() -> None:
    """The taint named like the resource is tolerated with Exists, whatever its value."""
    tolerations = placed("gke").tolerations.value
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in tolerations


def test_azure_pools_made_by_the_guide_are_tolerated() -> None:
    """AKS adds sku=gpu only because its guide has people set it; the toleration is exact."""
    wanted = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    assert wanted in placed("aks").tolerations.value
    assert wanted not in placed("eks").tolerations.value


def test_interactive_pods_keep_off_interruptible_nodes() -> None:
    """Karpenter may pick the cheapest capacity, so an interactive pod demands another kind."""
    assert terms(placed("eks-karpenter"))["karpenter.sh/capacity-type"] == ("In", "on-demand", "reserved")
    batch = placed("eks-karpenter", workload="batch", spot=True)
    assert terms(batch)["karpenter.sh/capacity-type"] == ("In", "spot")


def test_spot_for_interactive_is_refused() -> None:
    """A profile that wants interruptible nodes for chat is told why not, at its key."""
    (problem,) = refused("gke", spot=True)
    assert problem.path == ("cluster", "spot")
    assert "drops every stream" in problem.expected


@pytest.mark.parametrize(
    ("spare", "replicas", "volume", "wanted"),
    [
        (0, 2, False, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        (3, 2, False, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        (4, 2, False, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        (9, 2, False, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}),
        (16, 2, False, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}),
        (0, 1, False, {"type": "Recreate"}),
        (4, 1, False, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        (16, 4, True, {"type": "Recreate"}),
    ],
)
def test_updates_use_only_gpus_that_are_there(spare: int, replicas: int, *, volume: bool, wanted: object) -> None:
    """Surge needs a whole replica's spare GPUs; one replica without them, or a shared disk, is recreated."""
    found = placed(spare_gpus=spare, replicas=replicas, single_node_volume=volume)
    assert found.strategy.value == wanted


def test_an_outage_is_said() -> None:
    """Recreate comes with a note that says for how long nothing answers."""
    assert any("nothing answers for about 240 s" in note for note in placed(replicas=1).notes)


def test_the_progress_deadline_is_beyond_the_start_up_probe() -> None:
    """A rollout is not called failed while the startup probe still allows the pod to load."""
    assert placed(start_budget=Seconds(2700)).progress_deadline_seconds.value > 2700
    assert placed("on-prem", start_budget=Seconds(60)).progress_deadline_seconds.value == 600


@pytest.mark.parametrize(
    ("cloud", "wanted"),
    [
        ("eks", {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
        ("gke-autopilot", {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
        ("eks-karpenter", {"karpenter.sh/do-not-disrupt": "true"}),
        ("aks-nap", {"karpenter.sh/do-not-disrupt": "true"}),
        ("on-prem", {}),
    ],
)
def test_node_autoscalers_leave_loaded_replicas_alone(cloud: str, wanted: object) -> None:
    """Each autoscaler is told in its own words not to move a pod whose model takes minutes to load."""
    assert placed(cloud).pod_annotations.value == wanted


def test_development_pods_may_be_moved() -> None:
    """A pod of class dev carries no such annotation."""
    assert placed(workload="dev").pod_annotations.value == {}


def test_interactive_spreads_and_batch_packs() -> None:
    """One failure costs interactive one replica; batch keeps whole nodes free for larger replicas."""
    chat, batch = placed(), placed(workload="batch")
    keys = [c["topologyKey"] for c in chat.topology_spread.value if isinstance(c, dict)]
    assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    assert chat.pod_affinity.value == []
    assert batch.topology_spread.value == []
    assert batch.pod_affinity.value == [{"weight": 100, "topologyKey": "kubernetes.io/hostname"}]


def test_the_arithmetic_of_fragments_is_said() -> None:
    """The reader learns how many replicas a node holds, and when a node with idle GPUs holds none."""
    (note,) = placed().notes
    assert "p5.48xlarge with 8 GPUs; it holds 2." in note
    assert "took more than 4 GPUs holds none" in note


def test_more_gpus_than_any_node_has_are_refused() -> None:
    """Tensor parallel 4 on a cloud that sells at most 2 of the card is refused with the types named."""
    (problem,) = refused("aks", "h100-nvl-94gb", region="eastus")
    assert problem.found == "4 x NVIDIA H100 NVL 94 GB in one pod on Azure AKS with node pools"
    assert problem.expected.startswith("at most 2 on one node (Standard_NC80adis_H100_v5)")


def test_a_card_the_cloud_does_not_sell_is_refused() -> None:
    """The refusal says which clouds sell it."""
    (problem,) = refused("eks", "mi300x-192gb")
    assert problem.path == ("gpu",)
    assert "aks" in problem.expected


def test_a_host_need_that_no_instance_has_is_refused() -> None:
    """64 CPUs for one GPU do not fit the one-GPU instance, so the eight-GPU one is picked; 300 fit none."""
    roomy = placed(gpus=1, host=HostNeed(cpus=64, memory=Bytes(64 * GIB)))
    assert roomy.shapes.value == ["p5.48xlarge"]
    (problem,) = refused(gpus=1, host=HostNeed(cpus=300, memory=Bytes(64 * GIB)))
    assert "300 CPUs and 64.0 GiB" in problem.found


def test_a_problem_knows_its_line(tmp_path: Path) -> None:
    """The problem becomes an input problem at the line of the key it names."""
    profile = tmp_path / "chat.yaml"
    profile.write_text("model: 70B\ngpu: MI300X\ncontext: 8k\nregion: us-east-1\n", encoding="utf-8")
    (problem,) = refused("eks", "mi300x-192gb")
    located = problem.located(load_profile(profile))
    assert located.position is not None
    assert (located.position.line, located.path) == (2, "gpu")


def test_every_leaf_has_a_reason_and_plain_data() -> None:
    """All values go into values.yaml as they are, each with its sentence."""
    placement = placed()
    decisions = [getattr(placement, field.name) for field in fields(placement)]
    for decision in [found for found in decisions if isinstance(found, Decision)]:
        assert decision.because
        assert json.loads(json.dumps(decision.value)) == decision.value


@pytest.mark.parametrize("minor", ["1.33", "1.34", "1.35", "1.36", "1.37"])
@pytest.mark.parametrize("workload", ["interactive", "batch"])
def test_a_deployment_with_it_passes_the_strict_schema(minor: str, workload: str) -> None:
    """Everything placement says is a valid part of a Deployment on every supported Kubernetes."""
    found = placed("aks", workload=workload, region="eastus", spot=workload == "batch")
    assert check_objects([("test", manifest) for manifest in manifests(found)], minor) == []


@pytest.mark.parametrize("cloud", cloud_names())
def test_cards_of_clouds_are_cards_of_the_catalog(cloud: str) -> None:
    """Every card that a cloud file names has its own fact file."""
    assert [gpu(card).key for card in load_cloud(cloud).cards()] == list(load_cloud(cloud).cards())


@pytest.mark.parametrize("cloud", cloud_names())
def test_the_affinity_is_never_empty(cloud: str) -> None:
    """A required term without expressions would match no node at all."""
    card = load_cloud(cloud).cards()[0]
    for allocation in (WholeGpus(), DeviceClaim()):
        assert placed(cloud, card, gpus=1, region=None, allocation=allocation).node_affinity.value
