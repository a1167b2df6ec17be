"""How pods get their GPUs, what joins them over nodes, where they wait: what may need more than a word."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from chartgen.kernel.structure import Record, about
from chartgen.profile import words


class Whole(Record, frozen=True, kw_only=True, tag_field="by", tag="whole"):
    """Whole cards through the vendor's device plugin: the portable default."""


class Mig(Record, frozen=True, kw_only=True, tag_field="by", tag="mig"):
    """One slice of a card, cut by its firmware."""

    profile: Annotated[
        words.MigProfile | None, about("The slice; the smallest that carries the model when left out.")
    ] = None
    strategy: Annotated[
        Literal["single", "mixed"] | None,
        about("How the device plugin names slices: single as nvidia.com/gpu, mixed each by its profile."),
    ] = None


class Dra(Record, frozen=True, kw_only=True, tag_field="by", tag="dra"):
    """Devices by claim (dynamic resource allocation, resource.k8s.io)."""

    prefer: Annotated[
        tuple[words.Card, ...],
        about("Cards taken before `gpu` where they are free, the dearest wish first.", examples=[["H200"]]),
    ] = ()
    profile: Annotated[words.MigProfile | None, about("A slice of the card instead of whole cards.")] = None
    same_root: Annotated[bool, about("All cards of a pod hang on one PCIe root: for cards that talk over PCIe.")] = (
        False
    )
    beta: Annotated[bool, about("Kubernetes 1.33 whose administrator switched resource.k8s.io/v1beta2 on.")] = False


class _Shared(Record, frozen=True, kw_only=True):
    """A share of a card: no protection from neighbours, so for class dev only."""

    clients: Annotated[int, about("Pods that share one card.", ge=2, le=64)]
    renamed: Annotated[bool, about("The device plugin renames shared cards to nvidia.com/gpu.shared.")] = False


class TimeSlicing(_Shared, frozen=True, kw_only=True, tag_field="by", tag="time-slicing"):
    """A card that pods use in turns."""


class Mps(_Shared, frozen=True, kw_only=True, tag_field="by", tag="mps"):
    """A card that pods use at once through CUDA's multi-process service."""


Allocation: TypeAlias = Whole | Mig | Dra | TimeSlicing | Mps
"""How a pod gets its GPUs."""

Mode: TypeAlias = Literal["whole", "mig", "dra", "time-slicing", "mps"]
"""The same in a word, with everything else worked out."""


class Nodes(Record, frozen=True, kw_only=True):
    """Nodes of one replica, for a model that is larger than a node, and what joins them."""

    most: Annotated[words.NodeCount, about("The most nodes that one replica may span.")]
    same_domain: Annotated[
        words.LabelKey | None,
        about("A node label, such as that of racks, on whose value the nodes of one replica must agree."),
    ] = None
    fast_network: Annotated[
        bool, about("Take the nodes' fast network interfaces; the image needs their libraries.")
    ] = False
    compute_domain: Annotated[bool, about("Join the GPUs over NVLink beyond the node (GB200 and GB300 NVL72).")] = False


class Quota(Record, frozen=True, kw_only=True):
    """How much of the GPUs the queue may use."""

    replicas: Annotated[
        Annotated[int, about("Replicas.", ge=1)] | None,
        about("Replicas whose GPUs are the queue's own; the most that autoscaling adds when left out."),
    ] = None
    borrow: Annotated[int, about("Replicas more that may be borrowed from idle quota of the cohort.", ge=0)] = 0
    cohort: Annotated[words.Name | None, about("Whose idle quota can be borrowed.")] = None


class Queue(Record, frozen=True, kw_only=True):
    """Where pods wait for quota, by Kueue."""

    name: Annotated[words.Name, about("The LocalQueue in the release's namespace.")]
    priority_class: Annotated[words.Name | None, about("A WorkloadPriorityClass that exists.")] = None
    quota: Annotated[
        Quota | None,
        about("Quota objects for the platform team, which `chartgen render --with-node-pool` writes."),
    ] = None
