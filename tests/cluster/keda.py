"""KEDA's operator, metrics adapter and admission webhook, run beside a control plane and wired to it on loopback."""

from __future__ import annotations

import os
from typing import Final

from cluster import definitions
from cluster.controlplane import ControlPlane, program
from cluster.sandbox import LOOPBACK, free_ports
from cluster.webhooks import client
from cluster.wire import Manifest

HPA_SYNC: Final = "--horizontal-pod-autoscaler-sync-period=1s"
"""An option of the controller manager: a test need not wait the usual 15 s for the autoscaler's next look."""
SCALED_OBJECT: Final = "keda.sh/v1alpha1"
_NAMESPACE: Final = "keda"
_METRICS: Final = "v1beta1.external.metrics.k8s.io"
_WEBHOOK: Final = "/validate-keda-sh-v1alpha1-scaledobject"
_START_SECONDS: Final = 90


def start(plane: ControlPlane) -> int:
    """Start KEDA and wait until the API server serves its metrics and asks its webhook.

    Returns:
        The loopback port on which the operator shows its own metrics.
    """
    definitions.install(plane.api, "keda-crds", whole=True)
    certificates = plane.certificates.copied_to(plane.sandbox.folder / "keda")
    grpc, own, health, adapter, shown, webhook, ready = free_ports(7)
    common = [f"--kubeconfig={plane.kubeconfig}", f"--cert-dir={certificates}"]
    quiet = "--zap-log-level=error"
    environment = {
        "PATH": os.environ["PATH"],
        "KEDA_CLUSTER_OBJECT_NAMESPACE": _NAMESPACE,
        "POD_NAMESPACE": _NAMESPACE,
        "WATCH_NAMESPACE": "",
    }
    plane.api.must({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
    plane.sandbox.start(
        "keda-operator",
        [
            program("keda-operator"),
            *common,
            quiet,
            f"--metrics-bind-address={LOOPBACK}:{own}",
            f"--health-probe-bind-address={LOOPBACK}:{health}",
            f"--metrics-service-bind-address={LOOPBACK}:{grpc}",
            "--enable-webhook-patching=false",
            "--enable-apiservice-patching=false",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ],
        environment,
    )
    certificate, key = plane.certificates.pair("server")
    plane.sandbox.start(
        "keda-adapter",
        [
            program("keda-adapter"),
            *common,
            quiet,
            *(f"--{name}-kubeconfig={plane.kubeconfig}" for name in ("lister", "authentication", "authorization")),
            f"--bind-address={LOOPBACK}",
            f"--secure-port={adapter}",
            f"--port={shown}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--metrics-service-address=localhost:{grpc}",
        ],
        environment,
    )
    plane.sandbox.start(
        "keda-webhooks",
        [
            program("keda-webhooks"),
            *common,
            quiet,
            f"--port={webhook}",
            "--metrics-bind-address=0",
            f"--health-probe-bind-address={LOOPBACK}:{ready}",
        ],
        environment,
    )
    for manifest in (*_metrics_service(adapter), _admission(plane, webhook)):
        plane.api.must(manifest, namespace=_NAMESPACE)
    plane.wait(lambda: _serves_metrics(plane), "KEDA's metrics", _START_SECONDS)
    plane.wait(lambda: _refuses(plane), "KEDA's webhook", _START_SECONDS)
    return own


def _metrics_service(port: int) -> tuple[Manifest, Manifest]:
    """What tells the API server to pass questions for external metrics on to the adapter."""
    name = "keda-metrics-apiserver"
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
    group, version = "external.metrics.k8s.io", "v1beta1"
    registration = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": _METRICS},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"name": name, "namespace": _NAMESPACE, "port": port},
            "insecureSkipTLSVerify": True,  # the certificate is made out to localhost, not to a Service
        },
    }
    return service, registration


def _admission(plane: ControlPlane, port: int) -> Manifest:
    """KEDA's own webhook configuration for ScaledObjects, by URL, and closed while the webhook is away."""
    webhook = {
        "name": "vscaledobject.kb.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client(plane, port, _WEBHOOK),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "rules": [
            {
                "apiGroups": ["keda.sh"],
                "apiVersions": ["v1alpha1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["scaledobjects"],
            }
        ],
        "sideEffects": "None",
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "keda-admission"},
        "webhooks": [webhook],
    }


def _serves_metrics(plane: ControlPlane) -> bool:
    found = plane.api.get("apiregistration.k8s.io/v1", "APIService", _METRICS) or {}
    conditions = found.get("status", {}).get("conditions", [])
    return any(item["type"] == "Available" and item["status"] == "True" for item in conditions)


def _refuses(plane: ControlPlane) -> bool:
    """Whether the webhook, and not only the API server, has judged an object that it must refuse."""
    trigger = {"type": "cron", "name": "twice", "metadata": {}}
    spec = {"scaleTargetRef": {"name": "x"}, "triggers": [trigger, trigger]}
    odd = {"apiVersion": SCALED_OBJECT, "kind": "ScaledObject", "metadata": {"name": "x"}, "spec": spec}
    verdict = plane.api.create(odd, dry_run=True)
    return "vscaledobject.kb.io" in verdict.message and "failed to call" not in verdict.message
