"""What placement is asked, and what it answers."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from chartgen.catalog.clouds import Cloud
from chartgen.catalog.gpus import Gpu
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json
from chartgen.kernel.errors import InputProblem
from chartgen.kernel.units import Bytes, Seconds
from chartgen.plan.allocation_types import Allocation, DeviceRequest, WholeGpus
from chartgen.profile import LoadedProfile

Workload = Literal["interactive", "batch", "dev"]
"""interactive: somebody waits. batch: only throughput counts. dev: one person tries something."""

Intent = Literal["spread", "pack"]
"""Over nodes and zones, so that one failure costs one replica; or onto few nodes, to keep others whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNeed:
    """What one pod takes from its node besides GPUs."""

    cpus: int
    """CPUs, whole."""
    memory: Bytes
    """Memory with everything that counts against the limit, /dev/shm included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRequest:
    """Everything that decides where pods can go."""

    cloud: Cloud
    """The platform."""
    gpu: Gpu
    """The card."""
    gpus: int
    """GPUs of one pod: they must be free on one node at the same time."""
    pods: int = 1
    """Pods of one replica; more than one is a group over several nodes."""
    allocation: Allocation = field(default_factory=WholeGpus)
    """How the pod gets its accelerators."""
    kubernetes: int
    """The minor of the cluster: 34 for 1.34."""
    workload: Workload
    """Who waits for the answer."""
    intent: Intent | None = None
    """Spread or pack; None: spread for interactive, pack for the others."""
    region: str | None = None
    """The region the cluster is in."""
    zones: tuple[str, ...] = ()
    """Zones that may be used; empty: all of the cluster."""
    spot: bool = False
    """Interruptible capacity is wanted."""
    spare_gpus: int = 0
    """GPUs of this kind that stay free for a rolling update."""
    replicas: int
    """Replicas at the quietest time."""
    load: Seconds
    """What a pod takes from start to ready when it replaces another, as estimated."""
    fetch: Seconds
    """What the first pod's download of the weights takes, before its engine starts."""
    start_budget: Seconds
    """What the startup probe allows: an engine that takes longer is restarted."""
    single_node_volume: bool = False
    """All replicas mount one ReadWriteOnce volume."""
    host: HostNeed | None = None
    """CPU and memory of one pod; None: not checked against instance types."""
    priority_class: str | None = None
    """A PriorityClass that exists in the cluster."""
    runtime_class: str | None = None
    """A RuntimeClass that exists in the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where pods go and how they are replaced: JSON-like values, ready for values.yaml."""

    accelerators: Decision[dict[str, Json]]
    """Resource name and count, for limits and requests of the engine's container; empty with a claim."""
    node_affinity: Decision[list[Json]]
    """matchExpressions of the one required nodeSelectorTerm."""
    tolerations: Decision[list[Json]]
    """For the pod."""
    topology_spread: Decision[list[Json]]
    """topologySpreadConstraints without labelSelector: the template adds the chart's selector labels."""
    pod_affinity: Decision[list[Json]]
    """Preferred terms as {weight, topologyKey}; the template adds the chart's selector labels."""
    priority_class: Decision[str]
    """Empty for none."""
    runtime_class: Decision[str]
    """Empty for none."""
    strategy: Decision[dict[str, Json]]
    """The Deployment's strategy."""
    min_ready_seconds: Decision[int]
    """For the Deployment."""
    progress_deadline_seconds: Decision[int]
    """For the Deployment."""
    pod_annotations: Decision[dict[str, Json]]
    """What node autoscalers read."""
    shapes: Decision[list[Json]]
    """Instance types that hold one pod, smallest first; empty where none are listed."""
    claim: DeviceRequest | None
    """What is asked of a DRA driver; None: accelerators are an extended resource."""
    advice: tuple[str, ...]
    """What makes it faster but is not needed: for the chart's README."""
    notes: tuple[str, ...]
    """What the reader must know or provide: for NOTES.txt and the chart's README."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementProblem:
    """One thing asked for that the platform cannot give."""

    path: tuple[str, ...]
    """The profile's key that states it."""
    found: str
    """What was asked for."""
    expected: str
    """What would do."""
    nearest: str | None = None
    """The nearest name that would do."""

    def located(self, loaded: LoadedProfile) -> InputProblem:
        """The problem as one of the profile, at its line."""
        return loaded.problem(self.path, found=self.found, expected=self.expected, nearest=self.nearest)


class Misplaced(Exception):  # noqa: N818 - the caller, who knows the file, turns it into input problems
    """The platform cannot run what was asked for. Carries every problem found."""

    def __init__(self, problems: list[PlacementProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.found}: {problem.expected}" for problem in problems))
