"""Tests of the tests: a fault of each kind, put into a good chart or manifest, is caught by the check meant for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster import kwok, workloads
from cluster.api import wait_for
from cluster.clusters import Built
from cluster.controlplane import ControlPlane
from cluster.install import Helm, helm, install_chart, judge, rendered
from cluster.placement import placements

CHART = Path(__file__).resolve().parent.parent.parent / "out" / "chat-70b"
ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: x}
spec:
  parentRefs: [{name: gateway}]
  rules:
    - timeouts: {request: 10s, backendRequest: 20s}
      backendRefs: [{name: x, port: 80}]
"""
CLAIMING = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: x}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: x}]
  containers: [{name: c, image: x, resources: {claims: [{name: gpu}]}}]
"""


@pytest.fixture
def faulty(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Copies chat-70b with one text of one file changed, and without the schema that guards its values."""

    def copy(file: str, before: str, after: str) -> Path:
        chart = tmp_path / CHART.name
        shutil.copytree(CHART, chart)
        (chart / "values.schema.json").unlink()
        text = (chart / file).read_text(encoding="utf-8")
        assert before in text
        (chart / file).write_text(text.replace(before, after), encoding="utf-8")
        return chart

    return copy


@pytest.fixture
def quick(plane: ControlPlane, cluster_of: Callable[[str], Built]) -> Iterator[ControlPlane]:
    """A cluster with room for exactly two replicas of chat-70b, where pods end within a second."""
    kwok.start(plane, ending=1)  # before there are nodes, whose leases it would have to take over
    cluster_of("full")
    yield plane
    kwok.start(plane)


def test_unknown_field_is_caught(plane: ControlPlane, namespace: str, faulty: Callable[[str, str, str], Path]) -> None:
    """A misspelt field of a Deployment is refused by name, by the server and by both Helms' install."""
    chart = faulty("templates/engine/deployment.yaml", "revisionHistoryLimit", "revisionHistorySize")
    judged = judge(plane, rendered(plane, chart, namespace=namespace), namespace=namespace)
    (refused,) = (each for each in judged if not each.verdict.accepted)
    assert 'unknown field "spec.revisionHistorySize"' in str(refused)
    answer = install_chart(plane, chart, namespace=namespace, which="helm4")
    assert not answer.accepted
    assert "spec.revisionHistorySize: field not declared in schema" in answer.output
    lax = install_chart(plane, chart, namespace=namespace, which="helm3", release="lax")
    assert lax.accepted
    assert lax.warnings == ('unknown field "spec.revisionHistorySize"',)


def test_rule_of_a_definition_is_enforced(plane: ControlPlane, namespace: str) -> None:
    """An HTTPRoute that breaks a CEL rule of its definition, though every field is of the right type, is refused."""
    (judged,) = judge(plane, ROUTE, namespace=namespace)
    assert not judged.verdict.accepted
    assert "backendRequest timeout cannot be longer than request timeout" in judged.verdict.message


def test_unplaceable_pod_is_caught(
    quick: ControlPlane, namespace: str, faulty: Callable[[str, str, str], Path]
) -> None:
    """A chart that selects a label which no node has is accepted, and its pod waits with that reason."""
    chart = faulty("values.yaml", "p5.48xlarge", "p5.96xlarge")
    assert install_chart(quick, chart, namespace=namespace).accepted
    (pod,) = placements(quick.api, namespace)
    assert pod.node == ""
    assert "didn't match Pod's node affinity/selector" in pod.waits


def test_wrong_device_class_is_caught(plane: ControlPlane, namespace: str, cluster_of: Callable[[str], Built]) -> None:
    """A claim on a class that the cluster does not have is accepted, and its pod waits with the class's name."""
    cluster_of("dra")
    assert all(each.verdict.accepted for each in judge(plane, CLAIMING, namespace=namespace, dry_run=False))
    (pod,) = placements(plane.api, namespace)
    assert (pod.node, pod.devices) == ("", ())
    assert "device class gpu.example.com does not exist" in pod.waits


def test_reset_of_replicas_is_caught(
    quick: ControlPlane, namespace: str, faulty: Callable[[str, str, str], Path]
) -> None:
    """A chart that renders replicas beside an autoscaler undoes its work under Helm 3 and fails under Helm 4."""
    chart = faulty("templates/engine/deployment.yaml", "spec:\n  revision", "spec:\n  replicas: 2\n  revision")
    changed = ["--namespace", namespace, "--set", "image.tag=v0.33.1", "--reuse-values"]
    both: tuple[tuple[Helm, str], ...] = (("helm3", "three"), ("helm4", "four"))
    for which, release in both:
        assert install_chart(quick, chart, namespace=namespace, which=which, release=release).accepted
        workloads.scale(quick.api, namespace, release, 1)
        answer = helm(quick, which, "upgrade", release, chart, *changed)
        replicas = workloads.deployment(quick.api, namespace, release)["spec"]["replicas"]
        assert (which, answer.accepted, replicas) in {("helm3", True, 2), ("helm4", False, 1)}


def test_update_that_needs_a_spare_gpu_is_caught(
    quick: ControlPlane, namespace: str, faulty: Callable[[str, str, str], Path]
) -> None:
    """An update that wants a new replica first never gets one on a full cluster."""
    chart = faulty("values.yaml", "maxSurge: 0\n      maxUnavailable: 1", "maxSurge: 1\n      maxUnavailable: 0")
    assert install_chart(quick, chart, namespace=namespace).accepted
    workloads.scale_to_minimum(quick.api, namespace)
    wait_for(lambda: workloads.rolled_out(quick.api, namespace, "chat-70b"), "both replicas")
    changed = ["--namespace", namespace, "--set", "image.tag=v0.33.1", "--reuse-values"]
    assert helm(quick, "helm4", "upgrade", "chat-70b", chart, *changed).accepted
    (waiting,) = (pod for pod in placements(quick.api, namespace) if not pod.node)
    assert "Insufficient nvidia.com/gpu" in waiting.waits
    assert not workloads.rolled_out(quick.api, namespace, "chat-70b")
