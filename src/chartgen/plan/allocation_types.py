"""How a pod gets its accelerators: whole cards, a slice, a claim, or a share of a card."""

from __future__ import annotations

from typing import Literal

from chartgen.catalog.gpus import Gpu
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeGpus:
    """Whole cards through the vendor's device plugin: the portable default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigSlice:
    """One slice of a card, cut by its firmware, with memory and compute of its own."""

    profile: str
    """The slice's name, such as 3g.71gb. The name alone does not say the card."""
    strategy: Literal["single", "mixed"] = "mixed"
    """How the device plugin names slices: all alike as the whole card's resource, or each profile by its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One set of devices that would do."""

    gpu: Gpu
    """The card."""
    count: int
    """How many of it."""
    profile: str | None = None
    """A MIG profile, for a slice instead of the card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClaim:
    """Devices through dynamic resource allocation (resource.k8s.io)."""

    alternatives: tuple[Alternative, ...] = ()
    """In order of preference; empty: what the request says, and nothing else."""
    same_root: bool = False
    """All devices must hang on one PCIe root: for cards that talk over PCIe."""
    beta: bool = False
    """Kubernetes 1.33 with v1beta2 switched on by its administrator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGpu:
    """A share of a card by time-slicing or MPS: no memory protection worth the name, so for development only."""

    by: Literal["time-slicing", "mps"]
    """How the card is shared."""
    clients: int
    """How many pods share one card."""
    renamed: bool = False
    """The device plugin is told to rename shared cards to nvidia.com/gpu.shared."""


Allocation = WholeGpus | MigSlice | DeviceClaim | SharedGpu
"""How a pod gets its accelerators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A claim of one pod: the pod names it, a template makes it."""

    name: str
    """The claim's name inside the pod, for resourceClaims[].name and resources.claims[].name."""
    api_version: Decision[str]
    """apiVersion of the ResourceClaimTemplate."""
    spec: Decision[dict[str, Json]]
    """spec of the ResourceClaimTemplate."""
    counts: tuple[int, ...]
    """Devices of each alternative: when they differ, tensor parallel has to follow what the pod got."""
