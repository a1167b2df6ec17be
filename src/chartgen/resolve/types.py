"""What was asked, with facts in place of names."""

from __future__ import annotations

from chartgen.catalog.clouds import Cloud
from chartgen.catalog.engines import Engine
from chartgen.catalog.gateways import Gateway
from chartgen.catalog.gpus import Gpu
from chartgen.catalog.models import Model
from chartgen.catalog.quantizations import Quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision
from chartgen.kernel.units import Seconds, Tokens
from chartgen.profile import LoadedProfile, Profile
from chartgen.profile.placement import Allocation, Nodes, Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Tokens of requests, the longest and the typical one."""

    context: Decision[Tokens]
    """Prompt and answer of the longest request together."""
    answer: Decision[Tokens]
    """Answer of the longest request."""
    typical_prompt: Decision[Tokens]
    typical_answer: Decision[Tokens]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What was asked, with facts in place of names."""

    loaded: LoadedProfile
    """The profile and its text, for the place of a problem found later."""
    model: Model
    model_says: str
    """How the profile's model was understood, where that is more than its name."""
    hub: str | None
    """The model's name on the hub; None for a model that only a config.json describes."""
    gpu: Gpu
    preferred: tuple[Gpu, ...]
    """Cards that a claim takes before `gpu`, in order."""
    allocation: Allocation
    """How a pod gets its GPUs."""
    nodes: Nodes
    """The most nodes of a replica, and what joins them."""
    queue: Queue | None
    """Where pods wait for quota; None without Kueue."""
    engine: Engine
    image: Decision[str]
    """The full image reference."""
    cloud: Decision[Cloud]
    kubernetes: Decision[int]
    """The minor: 34 for 1.34."""
    gateway: Gateway | None
    """What carries requests in; None when nothing does."""
    lengths: Lengths
    first_token: Decision[Seconds]
    """The objective for the time to first token."""
    token_gap: Decision[Seconds]
    """The objective for the inter-token latency."""
    precision: Quantization | None
    """The precision that the profile asks for; None for the checkpoint's own."""

    @property
    def profile(self) -> Profile:
        """What was asked, in names."""
        return self.loaded.profile

    @property
    def interactive(self) -> bool:
        """Whether somebody waits for the first token."""
        return self.profile.class_ == "interactive"

    @property
    def autoscales(self) -> bool:
        """Whether something adds and removes replicas."""
        return self.profile.cluster.autoscaler != "none" and self.profile.class_ != "dev"
