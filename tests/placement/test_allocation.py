"""Allocation modes: slices, claims and shares, each with its names, and each with what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from chartgen.catalog.gpus import gpu, gpus
from chartgen.kernel.labels import is_label_value
from chartgen.kernel.units import GIB
from chartgen.plan.allocation import memory_share, slices
from chartgen.plan.allocation_types import Alternative, DeviceClaim, MigSlice, SharedGpu
from chartgen.plan.claim import memory_floor
from chartgen.validate.embedded import check_objects
from placement.parts import manifests, placed, refused, request, terms

PRODUCT = "nvidia.com/gpu.product"
H200, H100 = gpu("h200-sxm-141gb"), gpu("h100-sxm-80gb")


def test_a_mixed_slice_is_a_resource_of_its_own() -> None:
    """The profile stands in the resource name, and nodes are picked as for whole cards."""
    found = placed("eks", "h200-sxm-141gb", gpus=1, allocation=MigSlice(profile="3g.71gb"))
    assert found.accelerators.value == {"nvidia.com/mig-3g.71gb": 1}
    assert terms(found)["node.kubernetes.io/instance-type"] == ("In", "p5e.48xlarge", "p5en.48xlarge")
    assert "3 of 7 compute units, at most 2 on a card" in found.accelerators.because


def test_a_single_slice_is_told_from_a_card_by_its_label() -> None:
    """In the single strategy the resource is the card's, so the product label must carry the profile."""
    found = placed("on-prem", "h200-sxm-141gb", gpus=1, allocation=MigSlice(profile="3g.71gb", strategy="single"))
    assert found.accelerators.value == {"nvidia.com/gpu": 1}
    assert terms(found) == {"nvidia.com/gpu.product": ("In", "NVIDIA-H200-MIG-3g.71gb")}


def test_every_slice_and_share_of_a_card_can_be_told_by_a_label() -> None:
    """A suffix makes some product names longer than a label may be; each card keeps one that is not."""
    for card in gpus():
        modes = [MigSlice(profile=profile, strategy="single") for profile in card.mig]
        for mode in [*modes, SharedGpu(by="time-slicing", clients=2)] if card.vendor == "nvidia" else ():
            _, *values = terms(placed("on-prem", card.key, gpus=1, workload="dev", allocation=mode))[PRODUCT]
            assert values, card.key
            assert all(is_label_value(value) for value in values)


def test_gke_has_a_label_of_its_own_for_slices() -> None:
    """GKE offers slices as whole cards of a pool whose label holds the profile."""
    found = placed("gke", "a100-sxm-80gb", gpus=1, allocation=MigSlice(profile="1g.10gb", strategy="single"))
    assert terms(found)["cloud.google.com/gke-gpu-partition-size"] == ("In", "1g.10gb")
    assert terms(found)["cloud.google.com/gke-accelerator"] == ("In", "nvidia-a100-80gb")
    (problem,) = refused("gke", "a100-sxm-80gb", gpus=1, allocation=MigSlice(profile="1g.10gb"))
    assert problem.expected == "strategy single"


@pytest.mark.parametrize(
    ("cloud", "card", "changes", "expected"),
    [
        ("eks", "a100-sxm-40gb", {"gpus": 1, "allocation": MigSlice(profile="1g.10gb")}, None),
        ("eks", "h200-sxm-141gb", {"gpus": 1, "allocation": MigSlice(profile="1g.10gb")}, "one of 1g.18gb"),
        ("eks", "l4-24gb", {"gpus": 1, "allocation": MigSlice(profile="1g.6gb")}, "this card cannot be sliced"),
        ("eks", "h100-sxm-80gb", {"gpus": 2, "allocation": MigSlice(profile="3g.40gb")}, "one slice per replica"),
        ("eks-auto", "h100-sxm-80gb", {"gpus": 1, "allocation": MigSlice(profile="3g.40gb")}, "whole cards: Auto Mode"),
        ("aks", "mi300x-192gb", {"gpus": 1, "allocation": MigSlice(profile="3g.40gb")}, "cannot be sliced"),
        ("eks", "h100-sxm-80gb", {"gpus": 1, "allocation": SharedGpu(by="time-slicing", clients=4)}, "class dev"),
        ("eks", "h100-sxm-80gb", {"kubernetes": 33, "allocation": DeviceClaim()}, "1.34 or newer"),
        ("eks", "h100-sxm-80gb", {"kubernetes": 32, "allocation": DeviceClaim(beta=True)}, "1.34 or newer"),
    ],
)
def test_what_a_mode_refuses(cloud: str, card: str, changes: dict[str, object], expected: str | None) -> None:
    """Each impossible wish is refused with what would do; the same profile on its own card is fine."""
    if expected is None:
        assert placed(cloud, card, **changes).accelerators.value == {"nvidia.com/mig-1g.10gb": 1}
    else:
        (problem,) = refused(cloud, card, **changes)
        assert expected in problem.expected


def test_a_misspelt_profile_gets_the_nearest() -> None:
    """3g.70gb of an H200 is answered with 3g.71gb."""
    (problem,) = refused("eks", "h200-sxm-141gb", gpus=1, allocation=MigSlice(profile="3g.70gb"))
    assert problem.nearest == "3g.71gb"
    assert problem.path == ("cluster", "allocation", "profile")


def test_slices_come_smallest_first() -> None:
    """Memory decides; of two profiles with the same memory, the one with less compute comes first."""
    assert slices(H200) == ["1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"]
    assert slices(gpu("l4-24gb")) == []


def test_sharing_is_for_development_and_adds_up() -> None:
    """Four pods on one card get a share of memory each whose sum stays below the card's."""
    allocation = SharedGpu(by="time-slicing", clients=4)
    found = placed("on-prem", "l4-24gb", gpus=1, workload="dev", allocation=allocation)
    assert terms(found) == {"nvidia.com/gpu.product": ("In", "NVIDIA-L4-SHARED")}
    assert 4 * memory_share(4).value <= 0.9
    gke = placed("gke", "l4-24gb", gpus=1, workload="dev", allocation=SharedGpu(by="mps", clients=2))
    assert terms(gke)["cloud.google.com/gke-gpu-sharing-strategy"] == ("In", "mps")
    assert terms(gke)["cloud.google.com/gke-max-shared-clients-per-gpu"] == ("In", "2")


def test_a_claim_asks_for_what_a_card_can_do() -> None:
    """Generation and memory pick the devices, so that no product name has to be guessed."""
    found = placed("on-prem", allocation=DeviceClaim())
    assert found.accelerators.value == {}
    assert found.claim is not None
    assert found.claim.api_version.value == "resource.k8s.io/v1"
    assert found.claim.spec.value == {
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "gpus",
                        "exactly": {
                            "deviceClassName": "gpu.nvidia.com",
                            "count": 4,
                            "selectors": [
                                {
                                    "cel": {
                                        "expression": "device.attributes['gpu.nvidia.com'].architecture == 'Hopper' && "
                                        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('79Gi')) >= 0"
                                    }
                                }
                            ],
                        },
                    }
                ]
            }
        }
    }


def test_a_claim_may_prefer() -> None:
    """One H200, else two H100: the first that is free is taken, and the reader learns that counts differ."""
    wanted = DeviceClaim(alternatives=(Alternative(gpu=H200, count=1), Alternative(gpu=H100, count=2)))
    found = placed("on-prem", gpus=2, allocation=wanted)
    assert found.claim is not None
    spec: Any = found.claim.spec.value["spec"]
    (asked,) = spec["devices"]["requests"]
    choices = [(choice["name"], choice["count"]) for choice in asked["firstAvailable"]]
    assert choices == [("choice-1", 1), ("choice-2", 2)]
    assert found.claim.counts == (1, 2)
    assert any("start command counts the GPUs" in note for note in found.notes)


def test_a_claim_may_ask_for_a_slice() -> None:
    """A slice comes from the driver's own class, by its profile."""
    wanted = DeviceClaim(alternatives=(Alternative(gpu=H200, count=1, profile="3g.71gb"),))
    found = placed("on-prem", "h200-sxm-141gb", gpus=1, allocation=wanted)
    assert found.claim is not None
    text = str(found.claim.spec.value)
    assert "mig.nvidia.com" in text
    assert "profile == '3g.71gb'" in text


def test_devices_of_one_claim_may_have_to_share_a_root() -> None:
    """Cards that talk over PCIe can be asked for under one root, and the note says when to let go."""
    found = placed("on-prem", "l40s-48gb", gpus=2, allocation=DeviceClaim(same_root=True))
    assert found.claim is not None
    spec: Any = found.claim.spec.value["spec"]
    assert spec["devices"]["constraints"] == [
        {"requests": ["gpus"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}
    ]
    assert any("drop the constraint" in note for note in found.notes)


def test_karpenter_and_claims_come_with_a_warning() -> None:
    """Karpenter may bring a node without a GPU for a pod that only has a claim."""
    assert any("ignoreDRARequests" in note for note in placed("eks-karpenter", allocation=DeviceClaim()).notes)
    assert not any("ignoreDRARequests" in note for note in placed("on-prem", allocation=DeviceClaim()).notes)


def test_a_claim_tolerates_the_taint_itself() -> None:
    """No admission plug-in adds the toleration for a pod without the extended resource."""
    found = placed("gke", allocation=DeviceClaim())
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in found.tolerations.value
    assert "only has a claim" in found.tolerations.because


def test_amd_cards_have_names_of_their_own() -> None:
    """An MI300X is amd.com/gpu by plugin, and gpu.amd.com by claim."""
    whole = placed("aks", "mi300x-192gb", gpus=8)
    assert whole.accelerators.value == {"amd.com/gpu": 8}
    assert {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in whole.tolerations.value
    claimed = placed("aks", "mi300x-192gb", gpus=8, allocation=DeviceClaim())
    assert claimed.claim is not None
    assert "gpu.amd.com" in str(claimed.claim.spec.value)


def test_the_memory_floor_admits_the_card_itself() -> None:
    """The claim's floor is never above what the smallest card of the type shows."""
    for card in ("h100-sxm-80gb", "h200-sxm-141gb", "a100-sxm-80gb", "l4-24gb", "mi300x-192gb"):
        assert memory_floor(gpu(card)) * GIB <= gpu(card).visible_bytes("low")


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_claims_pass_the_strict_schema(minor: int) -> None:
    """The claim template and the pod that uses it are valid on every Kubernetes that serves v1."""
    wanted = DeviceClaim(alternatives=(Alternative(gpu=H200, count=2), Alternative(gpu=H100, count=4)), same_root=True)
    found = placed("on-prem", kubernetes=minor, allocation=wanted)
    assert check_objects([("test", manifest) for manifest in manifests(found)], f"1.{minor}") == []


def test_the_beta_is_used_only_when_asked_for() -> None:
    """1.33 with the beta switched on gets v1beta2, and the same shape is valid there."""
    found = placed("on-prem", kubernetes=33, allocation=DeviceClaim(beta=True))
    assert found.claim is not None
    assert found.claim.api_version.value == "resource.k8s.io/v1beta2"
    assert check_objects([("test", manifest) for manifest in manifests(found)], "1.33") == []


def test_alternatives_must_be_had() -> None:
    """A cloud that does not sell an alternative refuses it by name."""
    wanted = DeviceClaim(alternatives=(Alternative(gpu=H100, count=4), Alternative(gpu=gpu("mi300x-192gb"), count=2)))
    found = refused("eks", allocation=wanted)
    assert any("MI300X" in problem.found for problem in found)
    assert any("different vendors" in problem.found for problem in found)


def test_requests_are_frozen() -> None:
    """A request is data: equal when its parts are."""
    assert request() == request()
