"""Controllers beside the control plane: LeaderWorkerSet and Kueue, with their admission webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from cluster import definitions
from cluster.controlplane import ControlPlane, program
from cluster.sandbox import LOOPBACK, free_ports, listens
from cluster.webhooks import conversion, wired

_START_SECONDS: Final = 90.0
"""Both serve within a few seconds; this much on a machine that is busy with builds."""
_KUEUE_SECRET: Final = "kueue-webhook-server-cert"  # noqa: S105 - the name of an object
_FRAMEWORKS: Final = ("pod", "deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset")
"""What Kueue manages: those of its shipped configuration that serve (config/components/manager of its module)."""
_CONVERTED: Final = ("localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters")
"""Kueue's definitions that have a conversion webhook (config/components/crd/kustomization.yaml of its module)."""


@contextmanager
def leader_worker_set(plane: ControlPlane) -> Iterator[None]:
    """Run the controller of LeaderWorkerSets, its webhooks wired, until the end of the context."""
    definitions.install(plane.api, "lws-crds")
    configuration = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "health": {"healthProbeBindAddress": "0"},
        "internalCertManagement": {"enable": False},
    }
    with _running(plane, "lws", configuration):
        yield


@contextmanager
def kueue(plane: ControlPlane) -> Iterator[None]:
    """Run Kueue, its webhooks wired, until the end of the context."""
    definitions.install(plane.api, "kueue-crds")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _KUEUE_SECRET}}
    plane.api.create(secret, namespace="kube-system")
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "namespace": "kube-system",
        "health": {"healthProbeBindAddress": "0"},
        # Kueue makes certificates of its own, else it reads some from a fixed folder under /etc. They go to the Secret
        # and, as no kubelet mounts that here, it serves with ours.
        "internalCertManagement": {"enable": True, "webhookSecretName": _KUEUE_SECRET},
        "featureGates": {"VisibilityOnDemand": False},  # a second server, whose folder is fixed too
        "integrations": {"frameworks": list(_FRAMEWORKS)},
    }
    with _running(plane, "kueue", configuration, converted=_CONVERTED):
        yield


@contextmanager
def _running(
    plane: ControlPlane, name: str, configuration: Mapping[str, Any], *, converted: tuple[str, ...] = ()
) -> Iterator[None]:
    (port,) = free_ports(1)
    for plural in converted:
        definition = f"{plural}.kueue.x-k8s.io"
        manifest = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": definition},
        }
        plane.api.merge(manifest, {"spec": {"conversion": conversion(plane, port)}})
    certificates = plane.certificates.copied_to(plane.sandbox.folder / f"{name}-certificates")
    file = plane.sandbox.folder / f"{name}.json"
    common = {
        "kind": "Configuration",
        "metrics": {"bindAddress": "0"},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 500, "burst": 1000},
        "webhook": {"host": LOOPBACK, "port": port, "certDir": str(certificates)},
    }
    file.write_text(json.dumps({**common, **configuration}), encoding="utf-8")
    plane.sandbox.start(name, [program(f"{name}-controller"), f"--config={file}", f"--kubeconfig={plane.kubeconfig}"])
    try:
        plane.sandbox.wait(lambda: listens(port), f"the start of {name}", _START_SECONDS)
        with wired(plane, name, program(f"{name}-webhooks"), port):
            yield
    finally:
        plane.sandbox.stop(name)
