"""KWOK: keeps fake nodes ready, and plays what a kubelet would do with the pods that are bound to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from cluster.controlplane import ControlPlane, program
from cluster.sandbox import LOOPBACK, Program, free_ports

_STAGES: Final = Path(__file__).with_name("stages.yaml")


def pod_addresses(plane: ControlPlane) -> str:
    """The addresses of a control plane's pods: loopback, so that nothing a test sends can leave the machine.

    They follow from the API server's port, which no other control plane of this machine has.
    """
    high, low = divmod(plane.ports.server, 256)
    return f"127.{high}.{low}.0/24"


def start(plane: ControlPlane, *, cold_start: float = 0.0, ending: float | None = None) -> Program:
    """Start KWOK for every node of a control plane; start it again to change the times.

    Args:
        plane: the control plane whose nodes are all fake.
        cold_start: seconds from a pod's start until its containers are ready.
        ending: seconds from a pod's deletion to its end; None is the pod's own grace period.
    """
    running = plane.sandbox.programs.get("kwok")
    if running is not None:
        running.kill()
        for lease in plane.api.list("coordination.k8s.io/v1", "Lease", "kube-node-lease"):
            plane.api.delete(lease)  # else the next one waits until the leases of this one have run out
    (plane.sandbox.folder / "stages.yaml").write_text(_stages(cold_start, ending), encoding="utf-8")
    (port,) = free_ports(1)
    return plane.sandbox.start(
        "kwok",
        [
            program("kwok"),
            f"--kubeconfig={plane.kubeconfig}",
            "--manage-all-nodes=true",
            "--config=stages.yaml",
            f"--server-address={LOOPBACK}:{port}",
            "--node-lease-duration-seconds=40",
            f"--cidr={pod_addresses(plane)}",
            f"--node-ip={LOOPBACK}",
        ],
    )


def _stages(cold_start: float, ending: float | None) -> str:
    stages: list[dict[str, Any]] = list(yaml.safe_load_all(_STAGES.read_text(encoding="utf-8")))
    by_name = {stage["metadata"]["name"]: stage["spec"] for stage in stages}
    by_name["pod-ready"]["delay"] = {"durationMilliseconds": round(cold_start * 1000)}
    if ending is not None:
        by_name["pod-end"]["delay"] = {"durationMilliseconds": round(ending * 1000)}
    return yaml.safe_dump_all(stages, sort_keys=False)
