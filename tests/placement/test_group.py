"""Groups over several nodes: the parts of a LeaderWorkerSet, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from chartgen.catalog.engines import engine
from chartgen.plan.group import Group, GroupRequest, plan_group
from chartgen.plan.placement_types import Misplaced
from chartgen.validate.embedded import check_objects
from placement.parts import placed, request


def group(card: str = "h100-sxm-80gb", release: str = "0.18.1", cloud: str = "eks", **changes: Any) -> Group:
    """Two nodes of eight cards each, but for what is said."""
    own = {key: changes.pop(key) for key in ("same_domain", "fast_network", "compute_domain") if key in changes}
    place = request(cloud, card, **{"gpus": 8, "pods": 2, "replicas": 1, **changes})
    return plan_group(GroupRequest(placement=place, engine=engine(release), **own))


def test_the_loss_of_one_pod_restarts_the_group() -> None:
    """The stages of a replica are one engine, and the leader waits for workers, not they for it."""
    found = group()
    assert found.size.value == 2
    assert found.restart_policy.value == "RecreateGroupOnPodRestart"
    assert found.startup_policy.value == "LeaderCreated"


def test_only_leaders_are_served() -> None:
    """Service and budget pick pods with worker index 0."""
    assert group().leader_selector.value == {"leaderworkerset.sigs.k8s.io/worker-index": "0"}


def test_each_pod_knows_its_rank() -> None:
    """The leader is rank 0, a worker takes its index from its environment and has no HTTP server."""
    found = group()
    common = {"nnodes": 2, "master-addr": "$(LWS_LEADER_ADDRESS)", "master-port": 29501}
    assert found.leader_flags.value == {**common, "node-rank": 0}
    assert found.worker_flags.value == {**common, "node-rank": "$(LWS_WORKER_INDEX)", "headless": True}


def test_a_release_that_needs_ray_is_refused() -> None:
    """0.10.2 cannot span nodes by itself; the refusal names the first release that can."""
    with pytest.raises(Misplaced) as caught:
        group(release="0.10.2")
    (problem,) = caught.value.problems
    assert problem.path == ("engine", "release")
    assert "0.11.1" in problem.expected


@pytest.mark.parametrize(("spare", "surge", "unavailable"), [(0, 0, 1), (15, 0, 1), (16, 1, 0), (64, 1, 0)])
def test_a_group_surges_only_into_spare_gpus(spare: int, surge: int, unavailable: int) -> None:
    """A second group of 16 GPUs is started beside the first only when 16 are promised."""
    update: Any = group(spare_gpus=spare).rollout.value["rollingUpdateConfiguration"]
    assert (update["maxSurge"], update["maxUnavailable"]) == (surge, unavailable)


def test_fast_network_is_asked_for_on_request_only() -> None:
    """All EFA interfaces of the node, since the pod takes all of its GPUs."""
    assert group().network.value == {}
    assert group(fast_network=True).network.value == {"vpc.amazonaws.com/efa": 32}


def test_a_compute_domain_is_for_cards_whose_nvlink_leaves_the_node() -> None:
    """GB200 gets one on request; an H100 does not."""
    found = group("gb200-186gb", cloud="gke", gpus=4, compute_domain=True).compute_domain
    assert found is not None
    with pytest.raises(Misplaced):
        group(compute_domain=True)


def test_a_compute_domain_needs_claims() -> None:
    """Pods join a domain by claim, which Kubernetes serves from 1.34 on."""
    with pytest.raises(Misplaced) as caught:
        group("gb200-186gb", cloud="gke", gpus=4, compute_domain=True, kubernetes=33)
    (problem,) = caught.value.problems
    assert (problem.path, problem.expected) == (
        ("cluster", "kubernetes"),
        "1.34 or newer: pods join a domain by claim",
    )


def test_pods_of_a_group_are_not_spread() -> None:
    """Spreading over zones would part what passes activations with every token."""
    assert placed(gpus=8, pods=2, replicas=1).topology_spread.value == []


def test_the_compute_domain_passes_its_schema() -> None:
    """With the name of its claim template, the ComputeDomain is valid."""
    found = group("gb200-186gb", cloud="gke", gpus=4, compute_domain=True).compute_domain
    assert found is not None
    spec = {**found.value, "channel": {"resourceClaimTemplate": {"name": "big-channel"}}}
    manifest = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": "big"},
        "spec": spec,
    }
    assert check_objects([("test", manifest)], "1.34") == []
