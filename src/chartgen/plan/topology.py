"""Topology: what joins the GPUs of a pod, and what keeps them near its CPUs."""

from __future__ import annotations

from chartgen.plan.placement_nodes import holding
from chartgen.plan.placement_types import PlacementRequest


def island(request: PlacementRequest) -> int:
    """How many GPUs of a pod's node reach each other over NVLink or xGMI, at worst; 1 means PCIe only."""
    shapes = holding(request)
    if shapes:
        return min(shape.island for shape in shapes.values())
    link = request.gpu.interconnect
    if link is None or link.kind in {"pcie", "ethernet"}:
        return 1
    return link.bridge_of or max(request.gpu.per_node)


def link(request: PlacementRequest) -> str:
    """In words: tensor parallel reaches beyond the fast island, and what that costs; empty where it does not."""
    reach = island(request)
    if request.gpus <= reach:
        return ""
    card = request.gpu
    fast = card.interconnect
    if fast is None or fast.kind in {"pcie", "ethernet"}:
        speed = f" at {fast.gb_per_second:.0f} GB/s for each GPU" if fast else ""
        return (
            f"The {request.gpus} GPUs of a pod talk over PCIe{speed}: the two all-reduces of every layer cross it. It "
            "works, and adds GPUs for memory rather than for speed."
        )
    joined = f"islands of {reach}" if reach > 1 else "no bridge that is known"
    return (
        f"Tensor parallel {request.gpus} reaches beyond what {fast.kind} joins here ({joined}): the two all-reduces of "
        f"every layer also cross PCIe instead of {fast.gb_per_second:.0f} GB/s. Expect longer gaps between tokens, or "
        f"choose {reach if reach > 1 else 'one'} GPU{'s' if reach > 1 else ''} per replica with smaller weights."
    )


def advice(request: PlacementRequest) -> tuple[str, ...]:
    """What the platform team can set on nodes; nothing of it is needed to run."""
    cpus = request.host.cpus if request.host else None
    pinned = f"its {cpus} whole CPUs" if cpus else "its CPUs"
    return (
        (
            f"CPU pinning: the pod is Guaranteed with {pinned}, so a kubelet with cpuManagerPolicy static gives it "
            "CPUs of its own. With topologyManagerPolicy best-effort they lie on the NUMA node of its GPUs; "
            "single-numa-node refuses pods whose GPUs hang on two. To see what a node does: kubectl get --raw "
            "/api/v1/nodes/NODE/proxy/configz"
        ),
        "Huge pages are not asked for: the engine does not use them, and nodes have none unless they were reserved.",
    )
