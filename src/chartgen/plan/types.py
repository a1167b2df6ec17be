"""The plan: groups of decisions. Pure data; every leaf carries its reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from chartgen.catalog.gateways import StreamSettings
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, Json
from chartgen.kernel.units import Bytes
from chartgen.memory.fit import Fit
from chartgen.plan.allocation_types import Alternative
from chartgen.plan.group import Group
from chartgen.plan.kueue import Queue
from chartgen.plan.node_pool import NodeSide
from chartgen.plan.placement_types import Placement
from chartgen.resolve import Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the model is laid over GPUs."""

    precision: Decision[str]
    """The quantization scheme of the weights, by its name in the catalog."""
    quantize_at_load: bool
    """The engine makes that precision while it loads; otherwise the checkpoint has it."""
    tensor_parallel: Decision[int]
    """GPUs that share each layer."""
    pipeline_parallel: Decision[int]
    """Stages of layers."""
    expert_parallel: Decision[bool]
    """Experts lie whole on GPUs instead of split over them."""
    nodes: Decision[int]
    """Nodes of one replica: each runs one pod."""
    gpus: Decision[int]
    """GPUs of one replica, or slices or shares of one."""
    slice: Decision[str] | None
    """The MIG profile; None for whole cards."""
    alternatives: tuple[Alternative, ...]
    """What a claim may get instead, the dearest wish first and this layout's own last; empty without a choice."""

    @property
    def gpus_per_node(self) -> int:
        """GPUs of one pod."""
        return self.gpus.value // self.nodes.value

    @property
    def most_gpus_per_node(self) -> int:
        """GPUs of one pod, whichever alternative it gets."""
        return max((entry.count for entry in self.alternatives), default=self.gpus_per_node)

    @property
    def counts_differ(self) -> bool:
        """Whether tensor parallel has to follow what the pod got."""
        return len({entry.count for entry in self.alternatives}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """What runs at once on one replica."""

    context_length: Decision[int]
    """Tokens of the longest request, prompt and answer together."""
    sequences: Decision[int]
    """Requests that run at the same time at most."""
    batched_tokens: Decision[int]
    """Tokens of one step at most."""
    utilization: Decision[float]
    """Share of the card's memory that the engine may use."""
    kv_dtype: Decision[str]
    """Type of the KV cache."""
    in_flight: Decision[int]
    """Requests of typical length that the KV cache holds, at most `sequences`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carries:
    """What one replica carries: an estimate, or the user's own measurement."""

    in_flight: Decision[int]
    """Requests in flight, inside memory and objectives."""
    requests_per_second: Decision[float]
    """Requests each second at that load; 0 when no estimate can be made."""
    missed: str | None = None
    """Why no load at all is inside the objectives; the figures are then those without objectives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """How many, when more, when fewer."""

    minimum: Decision[int]
    maximum: Decision[int]
    peak: Decision[int]
    """What the stated traffic needs."""
    scaled: bool
    """Whether anything adds and removes replicas; otherwise there are always as many as the peak needs."""
    waiting_threshold: Decision[int]
    """Waiting requests for each replica that call for one more."""
    in_flight_threshold: Decision[int]
    """Requests in flight for each replica that call for one more."""
    polling: Decision[int]
    """Seconds between two looks at the metrics."""
    cooldown: Decision[int]
    """Seconds without activity before the last replica goes."""
    behavior: Decision[dict[str, Json]]
    """The HPA's windows and steps."""
    patience: Decision[int]
    """Looks in a row that may find no metrics before they count as lost."""
    fallback: Decision[dict[str, Json]]
    """What happens when metrics are lost."""

    @property
    def least(self) -> int:
        """The fewest that the chart asks for."""
        return (self.minimum if self.scaled else self.peak).value

    @property
    def most(self) -> int:
        """The most that the chart asks for."""
        return (self.maximum if self.scaled else self.peak).value

    @property
    def rests(self) -> bool:
        """Whether there is no replica while there is no work."""
        return self.minimum.value == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a pod takes from its node besides GPUs."""

    cpus: Decision[int]
    memory: Decision[str]
    """As a Kubernetes quantity, shared memory included."""
    memory_bytes: Bytes
    """The same in bytes."""
    shared_memory: Decision[str] | None
    """Size of /dev/shm; None when one GPU needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartUp:
    """From an empty node to the first token."""

    load: Decision[int]
    """Seconds from the container's start to ready, as estimated."""
    fetch: Decision[int]
    """Seconds for the first download of the weights."""
    fetches_again: bool
    """Whether each new replica downloads weights of its own."""
    period: Decision[int]
    """Seconds between start-up probes."""
    failures: Decision[int]
    """Probes that may fail before the container is restarted."""

    @property
    def replica(self) -> int:
        """Seconds until one more replica is ready, on a node that is there."""
        return self.load.value + (self.fetch.value if self.fetches_again else 0)

    @property
    def budget(self) -> int:
        """Seconds that the start-up probe allows."""
        return self.period.value * self.failures.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """How a pod leaves without cutting an answer."""

    pre_stop: Decision[int]
    """Seconds the pod goes on serving while it leaves the endpoints."""
    drain: Decision[int]
    """Seconds the engine may finish what it has; 0 where the release cannot."""
    grace: Decision[int]
    """Seconds before Kubernetes kills: more than the sum of the others."""

    @property
    def answers(self) -> int:
        """Seconds that running answers have, from when the pod leaves the endpoints."""
        return self.pre_stop.value + self.drain.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way in from outside."""

    kind: Literal["ingress", "httproute"]
    """Which object carries it."""
    host: Decision[str]
    class_name: Decision[str] | None
    """IngressClass, for an Ingress."""
    gateway: Decision[dict[str, Json]] | None
    """Name and namespace of the Gateway, for an HTTPRoute."""
    tls_secret: Decision[str] | None
    paths: Decision[list[Json]]
    settings: StreamSettings
    """What makes the proxy pass tokens as they come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubCache:
    """Weights from the model hub, kept on a volume."""

    model: Decision[str]
    """What the engine is told to serve: the hub's name of the model."""
    mount_path: Decision[str]
    revision: Decision[str]
    size: Decision[str]
    """Size of the volume, as a Kubernetes quantity."""
    storage_class: Decision[str]
    """Empty for the cluster's default."""
    token_secret: Decision[str] | None
    """The Secret that opens the hub; None for a model that everybody may download."""
    shared: bool
    """One ReadWriteMany volume for all replicas; otherwise each replica has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingClaim:
    """Weights that lie on a claim already."""

    model: Decision[str]
    """What the engine is told to serve: a path below `mount_path`."""
    mount_path: Decision[str]
    claim: Decision[str]


Storage = HubCache | ExistingClaim
"""Where the weights are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observability:
    """What is measured, by the names this release gives it."""

    metrics: Mapping[str, Decision[str]]
    """Concept, such as "requests waiting", to metric name."""
    interval: Decision[str]
    timeout: Decision[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceNeed:
    """What the release takes of its namespace at its largest."""

    quota: Mapping[str, Decision[str]]
    """By the name that a ResourceQuota gives it: the most that is counted at the same time."""
    notes: tuple[str, ...]
    """What a LimitRange must allow, and what happens where less is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A workload, worked out."""

    resolved: Resolved
    """What was asked, with facts in place of names."""
    fit: Fit
    """The memory arithmetic that the batch limits stand on; of a claim's alternatives, the one that holds least."""
    layout: Layout
    batching: Batching
    carries: Carries
    replicas: Replicas
    host: Host
    start_up: StartUp
    drain: Drain
    placement: Placement
    storage: Storage
    route: Route | None
    """None when nothing leads in from outside."""
    observability: Observability
    prometheus: Decision[str]
    """Where KEDA asks for metrics."""
    served_name: Decision[str]
    """What clients call the model, and the label of its metrics."""
    flags: Mapping[str, Decision[Json]]
    """Engine flags without their dashes."""
    env: Mapping[str, Decision[str]]
    """Environment of the engine."""
    notes: tuple[str, ...]
    """What the reader must know or provide."""
    namespace: NamespaceNeed
    """What quota and limits of the release's namespace must allow."""
    node_side: NodeSide
    """What the platform team must have for the chart to schedule: no part of the chart."""
    group: Group | None = None
    """What ties the pods of a replica over several nodes together; None when one pod is a whole replica."""
    queue: Queue | None = None
    """Where pods wait for quota; None without Kueue."""
