"""Clouds: what each platform calls its GPU nodes, what it sells, and what its taints ask of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from functools import cache
from typing import Any, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.kernel.yaml_source import read

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]
"""The operators of a node selector requirement that label tables need."""

Scaler = Literal["cluster-autoscaler", "karpenter", "provider", "none"]
"""What adds nodes: the cluster autoscaler, Karpenter, the provider's own machinery, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One demand on a node's labels, as in nodeSelectorTerms[].matchExpressions."""

    key: str
    """The label's key."""
    operator: Operator = "In"
    """How the values are compared; In takes any of several product strings of one card."""
    values: tuple[str, ...] = ()
    """The values, exact; empty for Exists and DoesNotExist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """One toleration that pods on this platform's GPU nodes need, and why."""

    key: str
    """The taint's key."""
    operator: Literal["Exists", "Equal"] = "Exists"
    """Exists takes every value of the key."""
    value: str | None = None
    """The value for Equal."""
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = "NoSchedule"
    """The taint's effect."""
    because: str
    """Who sets the taint, and when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An instance type with GPUs, as the provider sells it."""

    gpu: str
    """The GPU's key in the catalog."""
    gpus: int
    """GPUs of one instance."""
    cpus: int
    """Virtual CPUs (hardware threads) of one instance."""
    memory_mib: int
    """Host memory in MiB, before what the kernel and the kubelet keep."""
    island: int = 1
    """How many of its GPUs reach each other over NVLink or xGMI; 1 means PCIe only, or not known."""
    on_demand: bool = True
    """Whether it is sold for ordinary use; False: interruptible or queued only."""
    network: Mapping[str, int] = field(default_factory=dict)
    """Extended resources of its fast network interfaces, and how many it has."""
    note: str = ""
    """What a reader must know about this type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageClass:
    """A StorageClass this platform offers, with what must be there for it to work."""

    name: str
    """The class's name; empty means that no name is known to exist and the profile must give one."""
    because: str
    """What it is and what it needs."""
    source: str
    """Where the name stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where weights can be kept."""

    shared: StorageClass
    """ReadWriteMany: one copy that all replicas read."""
    block: StorageClass
    """ReadWriteOnce on fast disks: a copy for one node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """How interruptible capacity shows itself on nodes."""

    want: Requirement
    """Demands interruptible nodes."""
    avoid: Requirement | None = None
    """Keeps a pod off interruptible nodes; None where a taint already does so."""
    tolerations: tuple[Toleration, ...] = ()
    """What the taints of such nodes ask for."""
    source: str
    """Where the labels and taints stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mig:
    """Whether cards can be cut into slices here, and how such nodes show it."""

    strategies: tuple[Literal["single", "mixed"], ...]
    """What the platform's device plugin can be set to; empty where cards cannot be sliced."""
    label: str | None = None
    """The platform's own label that holds the profile; None: feature discovery's product label has it."""
    because: str
    """Who cuts the cards, or why nobody can."""
    source: str
    """Where that stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """A platform that runs Kubernetes with GPU nodes: labels, taints, instance types, storage, front door."""

    key: str
    """The name profiles use; also the file's name."""
    name: str
    """The product's name."""
    read: date
    """When the facts were read."""
    source: tuple[str, ...]
    """Where the facts stand."""
    scaler: Scaler
    """What adds nodes."""
    nodes: str
    """One sentence: which label picks the nodes and why that one."""
    shape_label: str | None = None
    """The label that holds the instance type, where nodes are picked by it; None where cards have labels."""
    card_labels: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    """By GPU key: the labels that all nodes with that card have, and no others; all must hold."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """By instance type; empty on hardware that nobody sells by the hour."""
    tolerations: tuple[Toleration, ...] = ()
    """Beyond the taint that is named like the GPU resource, which every platform may set."""
    extended_resource_toleration: bool = False
    """True where an admission plug-in tolerates the GPU taint for pods that ask for the extended resource."""
    zone_label: str = "topology.kubernetes.io/zone"
    """The zone of a node: a well-known label that cloud controllers set."""
    region_label: str = "topology.kubernetes.io/region"
    """The region of a node."""
    regions: tuple[str, ...] = ()
    """Known regions; empty where no source was read, and then any name is taken."""
    zones_begin_with_region: bool = False
    """Whether every zone's name is its region's and a letter: then a zone of another region can be told."""
    spot: Spot | None = None
    """Interruptible capacity; None where the platform has none that is sourced."""
    mig: Mig
    """Slices of cards."""
    sharing_labels: Mapping[str, str] = field(default_factory=dict)
    """The platform's own labels of shared cards; {strategy} and {clients} are filled in."""
    storage: Storage
    """Where weights can be kept."""
    gateway: str
    """The key of the gateway that this platform brings."""
    node_class: Mapping[str, str] = field(default_factory=dict)
    """For Karpenter: group, kind and name of the node class that a NodePool refers to."""

    def sells(self, gpu: str) -> bool:
        """Whether nodes with this card exist here as far as the catalog knows."""
        return gpu in self.card_labels or any(shape.gpu == gpu for shape in self.shapes.values())

    def cards(self) -> tuple[str, ...]:
        """The keys of all cards that exist here, in a stable order."""
        return tuple(sorted({*self.card_labels, *(shape.gpu for shape in self.shapes.values())}))

    def holding(self, gpu: str, count: int) -> dict[str, Shape]:
        """The instance types with at least `count` of the card, smallest first."""
        fitting = {name: shape for name, shape in self.shapes.items() if shape.gpu == gpu and shape.gpus >= count}
        return dict(sorted(fitting.items(), key=lambda item: (item[1].gpus, item[1].cpus, item[0])))

    def largest(self, gpu: str) -> int:
        """The most GPUs of this card that one instance has; 0 where no instance type is listed."""
        return max((shape.gpus for shape in self.shapes.values() if shape.gpu == gpu), default=0)


def product_labels(gpu: str) -> tuple[Requirement, ...]:
    """The product label that feature discovery gives nodes with this card, wherever it runs."""
    return load_cloud("on-prem").card_labels[gpu]


@cache
def cloud_names() -> tuple[str, ...]:
    """The keys of all clouds, sorted."""
    return tuple(sorted(path.stem for path in (catalog_data() / "clouds").glob("*.yaml")))


@cache
def _machines() -> dict[str, Shape]:
    return {name: shape for cloud in cloud_names() for name, shape in load_cloud(cloud).shapes.items()}


def machine(name: str) -> Shape | None:
    """The instance type of that name, whoever sells it; None where no cloud's list has it."""
    return _machines().get(name)


@cache
def load_cloud(name: str) -> Cloud:
    """Load one cloud.

    A file that says `like: other` holds only what differs from the other file: groups are merged, single
    facts replaced.

    Raises:
        UnknownName: the catalog has no such cloud.
    """
    if name not in cloud_names():
        raise UnknownName("cloud", name, cloud_names())
    return build(_facts(name), Cloud)


@cache
def _facts(name: str) -> dict[str, Any]:
    path = catalog_data() / "clouds" / f"{name}.yaml"
    (document,) = read(path.read_text(encoding="utf-8"), str(path))
    own: dict[str, Any] = document.value
    other = own.pop("like", None)
    facts = own if other is None else _merged(_facts(other), own)
    return {**facts, "key": name}


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """One level deep: a group keeps what the other file does not name, and below that everything replaces."""
    result = dict(base)
    for key, value in over.items():
        below = base.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            result[key] = {**below, **value}
        else:
            result[key] = value
    return result
