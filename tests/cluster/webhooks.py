"""Admission webhooks of a controller, as its project publishes them, called at a port of the loopback address."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from cluster.controlplane import ControlPlane, program
from cluster.errors import ClusterError
from cluster.sandbox import LOOPBACK
from cluster.wire import Manifest


@contextmanager
def wired(plane: ControlPlane, name: str, folder: Path, port: int) -> Iterator[None]:
    """Have the API server ask a controller, from the moment that it serves until the end of the context.

    Args:
        plane: the control plane.
        name: of the controller; the configurations are named after it.
        folder: the controller's webhook configurations, with their kustomization.
        port: where it listens, with the certificate of the control plane's own authority.
    """
    made = [plane.api.must(manifest) for manifest in _configurations(plane, name, folder, port)]
    try:
        yield
    finally:
        for manifest in made:
            plane.api.delete(manifest)


def conversion(plane: ControlPlane, port: int) -> Manifest:
    """spec.conversion of a definition whose versions a controller converts."""
    return {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client(plane, port, "/convert"), "conversionReviewVersions": ["v1"]},
    }


def _configurations(plane: ControlPlane, name: str, folder: Path, port: int) -> Iterator[Manifest]:
    for manifest in yaml.safe_load_all(_kustomized(folder)):
        if manifest["kind"].endswith("WebhookConfiguration"):
            # A name of our own: into configurations of its usual names Kueue writes its own authority.
            manifest["metadata"]["name"] = f"{manifest['metadata']['name']}-of-{name}"
            for hook in manifest["webhooks"]:
                hook["clientConfig"] = client(plane, port, hook["clientConfig"]["service"]["path"])
            yield manifest


def client(plane: ControlPlane, port: int, path: str) -> dict[str, Any]:
    """An address in place of the controller's Service, which nothing routes to here."""
    authority = base64.b64encode(plane.certificates.authority.read_bytes()).decode()
    return {"url": f"https://{LOOPBACK}:{port}{path}", "caBundle": authority}


def _kustomized(folder: Path) -> str:
    done = subprocess.run(
        [program("kubectl"), "kustomize", folder], capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        raise ClusterError(f"kubectl kustomize {folder} failed:\n{done.stderr}")
    return done.stdout
