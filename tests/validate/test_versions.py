"""API versions that come and go: each minor serves what its own Kubernetes serves."""

from __future__ import annotations

import pytest

from chartgen.validate import library
from chartgen.validate.embedded import check_objects
from validate.samples import MINORS

# API version, kind, the minor asked for, and the whole message.
TABLE = [
    ("extensions/v1beta1", "Ingress", "1.33", "is not served since Kubernetes 1.22; use networking.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "Ingress", "1.37", "is not served since Kubernetes 1.22; use networking.k8s.io/v1"),
    ("policy/v1beta1", "PodDisruptionBudget", "1.34", "is not served since Kubernetes 1.25; use policy/v1"),
    ("batch/v1beta1", "CronJob", "1.34", "is not served since Kubernetes 1.25; use batch/v1"),
    ("apps/v1beta2", "Deployment", "1.33", "is not served since Kubernetes 1.16; use apps/v1"),
    (
        "autoscaling/v2beta2", "HorizontalPodAutoscaler", "1.33",
        "is not served since Kubernetes 1.26; use autoscaling/v2",
    ),
    (
        "admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", "1.37",
        "is not served since Kubernetes 1.34; use admissionregistration.k8s.io/v1",
    ),
    (
        "resource.k8s.io/v1", "ResourceClaimTemplate", "1.33",
        "is served from Kubernetes 1.34, and this is 1.33; use resource.k8s.io/v1beta1",
    ),
    (
        "scheduling.k8s.io/v1beta1", "Workload", "1.36",
        "is served from Kubernetes 1.37, and this is 1.36; use scheduling.k8s.io/v1alpha2",
    ),
    ("apps/v2", "Deployment", "1.37", "is not an API version of Deployment; use apps/v1"),
    ("keda.sh/v1", "ScaledObject", "1.37", "is not an API version of ScaledObject; use keda.sh/v1alpha1"),
    (
        "inference.networking.x-k8s.io/v1alpha2", "InferencePool", "1.37", None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("api_version", "kind", "minor", "message"), TABLE)
def test_says_since_when_or_from_when(api_version: str, kind: str, minor: str, message: str | None) -> None:
    """An API version that a minor does not serve is refused with the minor that ended or begins it."""
    (problem,) = check_objects([("file", {"apiVersion": api_version, "kind": kind})], minor)
    if message is None:
        assert problem.code == "unknown-kind"
        return
    assert problem.code == "api-version"
    assert problem.path == ("apiVersion",)
    assert problem.message == f"{kind} of {api_version} {message}"


# The first minor that has a kind, and the last, between 1.33 and 1.37.
SERVED = [
    ("resource.k8s.io/v1beta1", "ResourceClaim", "1.33", "1.37"),
    ("resource.k8s.io/v1beta2", "ResourceClaim", "1.33", "1.37"),
    ("resource.k8s.io/v1", "ResourceClaim", "1.34", "1.37"),
    ("resource.k8s.io/v1alpha3", "ResourceClaim", "1.33", "1.33"),
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "1.36", "1.37"),
    ("scheduling.k8s.io/v1alpha1", "Workload", "1.35", "1.35"),
    ("scheduling.k8s.io/v1beta1", "PodGroup", "1.37", "1.37"),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "1.33", "1.37"),
]


@pytest.mark.parametrize(("api_version", "kind", "first", "last"), SERVED)
def test_each_minor_serves_its_own_versions(api_version: str, kind: str, first: str, last: str) -> None:
    """A kind has a schema in exactly the minors whose Kubernetes serves it."""
    serving = [minor for minor in MINORS if library.schema(api_version, kind, library.release(minor))]
    assert (serving[0], serving[-1]) == (first, last)


# A field of a pod, the minor that brings it, and the minor that takes it away again.
FIELDS = [
    ("hostnameOverride", "x", "1.34", None),
    ("workloadRef", {"name": "x", "podGroup": "y"}, "1.35", "1.36"),
    ("schedulingGroup", {"podGroupName": "x"}, "1.36", None),
    ("schedulingGates", [{"name": "example.com/gate"}], "1.33", None),
]


@pytest.mark.parametrize(("name", "value", "since", "until"), FIELDS)
def test_a_field_is_unknown_before_its_minor(name: str, value: object, since: str, until: str | None) -> None:
    """A field that a later minor brings is an unknown field before it."""
    spec = {"containers": [{"name": "a", "image": "b"}], name: value}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    for minor in MINORS:
        problems = [(problem.path, problem.code) for problem in check_objects([("file", pod)], minor)]
        there = minor >= since and (until is None or minor < until)
        assert problems == ([] if there else [(("spec", name), "unknown-field")]), minor


def test_scaling_to_zero_waits_for_its_minor() -> None:
    """An autoscaler may reach zero from 1.37, and only with a metric that needs no pod."""

    def autoscaler(metric: dict[str, object]) -> dict[str, object]:
        return {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a"},
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"},
                "minReplicas": 0,
                "maxReplicas": 3,
                "metrics": [metric],
            },
        }

    target = {"type": "AverageValue", "averageValue": 5}
    external = autoscaler({"type": "External", "external": {"metric": {"name": "x"}, "target": target}})
    resource = autoscaler({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    assert check_objects([("file", external)], "1.37") == []
    for content, minor in ((external, "1.36"), (resource, "1.37")):
        (problem,) = check_objects([("file", content)], minor)
        assert problem.path == ("spec", "minReplicas")


def test_a_service_name_may_begin_with_a_digit_from_its_minor() -> None:
    """Names of Services that begin with a digit are taken from 1.36, where the gate is on by default."""
    spec = {"ports": [{"port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "3b"}, "spec": spec}
    assert [bool(check_objects([("file", service)], minor)) for minor in MINORS] == [True, True, True, False, False]
