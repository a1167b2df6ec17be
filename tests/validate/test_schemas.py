"""The schema folder: complete, compilable, and every file with its source."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chartgen.validate import library
from validate.samples import MINORS

INDEX: dict[str, Any] = json.loads((library.FOLDER / "index.json").read_text(encoding="utf-8"))


def test_every_minor_is_there() -> None:
    """The supported minors have schemas, each from a patch release of its own Kubernetes."""
    assert tuple(library.index().releases) == MINORS
    assert all(entry["version"].startswith(f"v{entry['minor']}.") for entry in INDEX["kubernetes"])


def test_every_file_is_in_the_index() -> None:
    """No schema file lies there that the index does not name, and none that it names is missing."""
    named = {entry["path"] for entry in INDEX["custom"]} | {"index.json", "custom/_definitions.json"}
    for release in library.index().releases.values():
        named.add(f"{release.folder}/_definitions.json")
        for version, kind in release.kinds:
            schema = library.schema(version, kind, release)
            assert schema is not None
            named.add(schema.path)
    assert named == {file.relative_to(library.FOLDER).as_posix() for file in library.FOLDER.rglob("*.json")}


def test_every_schema_says_where_it_is_from() -> None:
    """Each entry has a module or a public source, and a licence that allows it to be shipped."""
    for entry in [*INDEX["kubernetes"], *INDEX["custom"]]:
        assert entry["licence"] in {"Apache-2.0", "CC-BY-4.0", "MIT"}
        assert entry["version"] or entry["from"].startswith("https://")


@pytest.mark.parametrize("minor", MINORS)
def test_every_schema_compiles(minor: str) -> None:
    """The validator takes each schema of a minor, and each of the custom resources."""
    release = library.release(minor)
    kinds = [*release.kinds, *(library.index().custom if minor == MINORS[-1] else ())]
    for version, kind in kinds:
        schema = library.schema(version, kind, release)
        assert schema is not None
        validator = library.validator(schema.path)
        assert not validator.is_valid({})
        assert not validator.is_valid({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "surprise": 1})


def _prose(node: Any) -> bool:
    if isinstance(node, dict):
        return any(isinstance(node.get(key), str) for key in ("description", "title", "example")) or any(
            _prose(value) for value in node.values()
        )
    return isinstance(node, list) and any(_prose(value) for value in node)


def test_prose_is_left_out() -> None:
    """No schema carries the descriptions of its source."""
    for file in library.FOLDER.rglob("*.json"):
        assert not _prose(json.loads(file.read_text(encoding="utf-8"))), file


def test_the_kinds_that_charts_emit_are_there() -> None:
    """Every kind that a chart may hold has a schema at the newest minor."""
    newest = {kind for _, kind in library.release(MINORS[-1]).kinds} | {kind for _, kind in library.index().custom}
    assert newest >= {
        "BackendConfig", "BackendTrafficPolicy", "ClientTrafficPolicy", "ClusterQueue", "ComputeDomain", "ConfigMap",
        "CronJob", "DaemonSet", "Deployment", "DestinationRule", "DeviceClass", "EC2NodeClass", "GCPBackendPolicy",
        "Gateway", "HTTPProxy", "HTTPRoute", "HealthCheckPolicy", "HorizontalPodAutoscaler", "InferencePool",
        "InferenceService", "Ingress", "IngressRoute", "Job", "JobSet", "LeaderWorkerSet", "LocalQueue",
        "LoadBalancerConfiguration", "Middleware", "Namespace", "NetworkPolicy", "NodePool",
        "PersistentVolumeClaim", "Pod", "PodDisruptionBudget", "PodMonitor", "PodMonitoring", "PriorityClass",
        "PrometheusRule", "RayCluster", "RayService", "ResourceClaim", "ResourceClaimTemplate", "ResourceFlavor",
        "Role", "RoleBinding", "RuntimeClass", "ScaledObject", "Secret", "ServersTransport", "Service",
        "ServiceAccount", "ServiceMonitor", "StatefulSet", "StorageClass", "TargetGroupBinding",
        "TriggerAuthentication", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "VirtualService",
    }  # fmt: skip
