"""The charts of the ready profiles, judged by real API servers, installed by both Helms, bound by real schedulers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chartgen.api import render
from chartgen.render.write import write_folder
from cluster import kwok, workloads
from cluster.api import wait_for
from cluster.clusters import Built
from cluster.controlplane import MINORS, ControlPlane
from cluster.install import Helm, documents, helm, install_chart, judge, make_namespace, remove_namespace, rendered
from cluster.placement import placements
from cluster.wire import Manifest

ROOT = Path(__file__).resolve().parent.parent.parent
OUT, PROFILES = ROOT / "out", ROOT / "profiles"
CHARTS = sorted(path.parent.name for path in OUT.glob("*/Chart.yaml"))
HELMS: tuple[Helm, ...] = ("helm3", "helm4")
AFFINITY = "didn't match Pod's node affinity/selector"
_numbers = itertools.count()


@pytest.fixture
def home(plane: ControlPlane) -> Iterator[Callable[[ControlPlane], str]]:
    """Makes a namespace of its own in a control plane, with the volume that batch-8b expects to be there."""
    del plane
    made = []

    def make(where: ControlPlane) -> str:
        name = f"chart-{next(_numbers)}"
        made.append((where, name))
        make_namespace(where, name)
        volume = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "20Gi"}}}
        metadata = {"name": "llama-weights"}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": volume}
        where.api.must(claim, namespace=name)
        return name

    yield make
    for where, name in made:
        remove_namespace(where, name)


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_object_is_accepted(
    planes: Callable[[str], ControlPlane], home: Callable[[ControlPlane], str], chart: str, minor: str
) -> None:
    """Every object of a chart is accepted with strict field validation, and the server warns of nothing."""
    plane = planes(minor)
    space = home(plane)
    for which in HELMS:
        judged = judge(plane, rendered(plane, OUT / chart, namespace=space, which=which), namespace=space)
        assert len(judged) >= 5
        assert [str(each) for each in judged if not each.verdict.accepted or each.verdict.warnings] == []


@pytest.mark.parametrize("which", HELMS)
@pytest.mark.parametrize(
    ("chart", "cluster", "nodes", "devices"),
    [
        ("chat-70b", "eks", {"h100-0", "h100-1"}, 0),
        ("assistant-14b", "gke", {"gke-a100-0", "gke-a100-1", "gke-a100-2"}, 0),
        ("batch-8b", "on-prem", {"l4-0", "l4-1"}, 0),
        ("amd-70b", "aks", {"aks-mi300x-vmss000000", "aks-mi300x-vmss000001"}, 0),
        ("dev-4b", "on-prem", {"l4-shared"}, 0),
        ("kueue-32b", "gke-spot", {"spot-0", "spot-1"}, 0),
        ("mig-14b", "mig-mixed", {"h200"}, 0),
        ("dra-70b", "dra", {"h200"}, 1),  # its first choice: one H200 in place of two H100
    ],
)
def test_pods_are_bound_where_the_plan_says(
    chart: str,
    cluster: str,
    nodes: set[str],
    devices: int,
    which: Helm,
    plane: ControlPlane,
    home: Callable[[ControlPlane], str],
    cluster_of: Callable[[str], Built],
) -> None:
    """Installed by either Helm, each replica is bound to the planned cards, gets its devices and becomes ready."""
    cluster_of(cluster)
    space = home(plane)
    answer = install_chart(plane, OUT / chart, namespace=space, which=which)
    assert answer.accepted, answer.output
    assert answer.warnings == ()
    least = workloads.scale_to_minimum(plane.api, space)
    if least == {chart: 0}:
        workloads.scale(plane.api, space, chart, 1)  # work has come
    placed = placements(plane.api, space)
    assert len(placed) == max(1, least.get(chart, 1))
    assert all(pod.ready for pod in placed), placed
    assert {pod.node for pod in placed} <= nodes
    assert {len(pod.devices) for pod in placed} == {devices}


NODES = "Nodes are picked by "
WAITING = [
    # chart, cluster, storage class, the scheduler's reason, and what the README says
    (
        "chat-70b", "fragmented", "efs-sc", "Insufficient nvidia.com/gpu",  # six are free, four on no single node
        "All 4 GPUs of a pod must be free on one node at the same time",
    ),
    ("chat-70b", "gke", "standard-rwo", AFFINITY, f"{NODES}node.kubernetes.io/instance-type"),  # another cloud's labels
    ("assistant-14b", "eks", "gp3", AFFINITY, f"{NODES}cloud.google.com/gke-accelerator"),
    ("chat-70b", "gke-spot", "standard-rwx", AFFINITY, "Instance types with at least 4 x NVIDIA H100 SXM 80 GB"),
    ("batch-8b", "mig-single", "", AFFINITY, "an exact list keeps whole cards apart from slices"),
    ("mig-14b", "mig-single", "", AFFINITY, f"{NODES}nvidia.com/gpu.product"),  # slices of another card
    (
        "mig-14b", "mig-small", "", "Insufficient nvidia.com/mig-1g.35gb",
        "Cards must be cut into 1g.35gb slices before pods can run",
    ),
    (
        "dra-70b", "on-prem", "", "device class gpu.nvidia.com does not exist",
        "Claims need the NVIDIA DRA driver with its GPU part switched on",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("chart", "cluster", "storage", "reason", "told"), WAITING)
def test_pods_wait_where_nothing_fits(
    chart: str,
    cluster: str,
    storage: str,
    reason: str,
    told: str,
    plane: ControlPlane,
    home: Callable[[ControlPlane], str],
    cluster_of: Callable[[str], Built],
) -> None:
    """Where a cluster has no place for a chart no replica is bound; the scheduler says why, and the README said so."""
    cluster_of(cluster)
    space = home(plane)
    options = ["--set", f"weights.storageClass={storage}"] if storage else []
    assert install_chart(plane, OUT / chart, namespace=space, options=options).accepted
    placed = placements(plane.api, space)
    assert placed
    assert [pod.node for pod in placed if pod.node] == []
    assert all(reason in pod.waits for pod in placed), placed
    assert told in (OUT / chart / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def busy(plane: ControlPlane, home: Callable[[ControlPlane], str], cluster_of: Callable[[str], Built]) -> Iterator[str]:
    """chat-70b on a cluster that has room for exactly its two replicas, with a cold start of one second."""
    kwok.start(plane, cold_start=1, ending=1)
    cluster_of("full")
    space = home(plane)
    assert install_chart(plane, OUT / "chat-70b", namespace=space).accepted
    workloads.scale_to_minimum(plane.api, space)
    wait_for(lambda: workloads.rolled_out(plane.api, space, "chat-70b"), "both replicas")
    yield space
    kwok.start(plane)


def test_update_needs_no_spare_gpu(plane: ControlPlane, busy: str) -> None:
    """A new image rolls out though no GPU is free, one replica after the other, and never takes both."""
    options = ["--namespace", busy, "--set", "image.tag=v0.33.1", "--reuse-values"]
    answer = helm(plane, "helm4", "upgrade", "chat-70b", OUT / "chat-70b", *options)
    assert answer.accepted, answer.output

    def done() -> bool:
        pods = plane.api.list("v1", "Pod", busy)
        new = all(pod["spec"]["containers"][0]["image"].endswith("v0.33.1") for pod in pods)
        return new and workloads.rolled_out(plane.api, busy, "chat-70b")

    assert workloads.fewest_ready(plane.api, busy, "chat-70b", done) == 1
    assert {pod.node for pod in placements(plane.api, busy)} == {"h100-0", "h100-1"}


def test_upgrade_keeps_what_the_autoscaler_set(plane: ControlPlane, busy: str) -> None:
    """An upgrade with a new value leaves the replicas that an autoscaler has set."""
    workloads.scale(plane.api, busy, "chat-70b", 1)
    options = ["--namespace", busy, "--set", "image.tag=v0.33.1", "--reuse-values"]
    assert helm(plane, "helm4", "upgrade", "chat-70b", OUT / "chat-70b", *options).accepted
    assert workloads.deployment(plane.api, busy, "chat-70b")["spec"]["replicas"] == 1


@pytest.mark.parametrize("which", HELMS)
def test_upgrade_after_a_new_plan_changes_only_what_changed(
    which: Helm, plane: ControlPlane, home: Callable[[ControlPlane], str], tmp_path: Path
) -> None:
    """A shorter context changes the pods and nothing else, and the replicas that an autoscaler set stay."""
    space = home(plane)
    folders = [tmp_path / name / "chat-70b" for name in ("before", "after")]
    for folder, sets in zip(folders, ([], ["context=6k"]), strict=True):
        write_folder(render(PROFILES / "chat-70b.yaml", sets)[1], folder)
    assert install_chart(plane, folders[0], namespace=space, which=which).accepted
    workloads.scale(plane.api, space, "chat-70b", 3)
    kinds = [(one["apiVersion"], one["kind"]) for one, _ in documents(rendered(plane, folders[1], namespace=space))]
    before = _written(plane, space, kinds)
    answer = helm(plane, which, "upgrade", "chat-70b", folders[1], "--namespace", space)
    assert answer.accepted, answer.output
    after = _written(plane, space, kinds)
    assert before.keys() == after.keys()
    assert {kind for kind, name in before if before[kind, name] != after[kind, name]} == {"Deployment"}
    assert after["Deployment", "chat-70b"]["spec"]["replicas"] == 3


def _written(plane: ControlPlane, space: str, kinds: list[tuple[str, str]]) -> dict[tuple[str, str], Manifest]:
    """What stands in a namespace, without what the server notes of it."""
    noted = {"resourceVersion", "managedFields", "generation"}
    found = {}
    for version, kind in dict.fromkeys(kinds):
        if kind != "Pod":
            for one in plane.api.list(version, kind, space):
                data = {key: value for key, value in one["metadata"].items() if key not in noted}
                found[kind, str(data["name"])] = {**one, "metadata": data, "status": None}
    return found


def test_drain_respects_the_budget(plane: ControlPlane, busy: str) -> None:
    """While one replica has lost its place, the budget refuses the eviction of the other."""
    assert workloads.drain(plane.api, "h100-0", busy) == []
    (left,) = (pod for pod in plane.api.list("v1", "Pod", busy) if pod["spec"].get("nodeName") == "h100-1")
    wait_for(
        lambda: workloads.deployment(plane.api, busy, "chat-70b")["status"].get("readyReplicas") == 1,
        "the loss of one replica",
    )
    verdict = plane.api.evict(left)
    assert verdict.status == 429
    assert "disruption budget" in verdict.message
