"""What one vLLM release knows: flags, metrics, endpoints, environment, and how it behaves.

Every fact is read from the release's own wheel; behaviour that no table in the sources states is reviewed by
hand and carries its source in the release's file.
"""

from __future__ import annotations

from typing import Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.units import GIB, Bytes

FlagType = Literal[
    "switch",  # present or absent, no value, no negation
    "boolean",  # --x and --no-x
    "true or false",  # --x, or --x followed by the word
    "true if not empty",  # any word is true: a mistake of the release
    "integer",
    "suffixed integer",  # 8k is 8000, 8K is 8192
    "suffixed integer or auto",
    "number",
    "text",
    "comma list",
    "name=number list",
    "json",
    "text or json",
]
"""What a flag's value is, as the release's own parser takes it."""

EngineGeneration = Literal["v0", "v1"]
"""The engine core: v0 up to 0.7, v1 by default from 0.8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One command-line flag of one release."""

    name: str
    """The long name with its dashes: --max-model-len."""
    type: FlagType
    """What its value is."""
    shape: str = ""
    """Of JSON: the config class whose fields are its keys."""
    choices: tuple[Json, ...] = ()
    """Values that the parser enforces; empty for any."""
    known: tuple[Json, ...] = ()
    """Values that are documented and not enforced by the parser."""
    default: Json = None
    """The parser's default; None when it is unset."""
    default_from: str = ""
    """For a default that is worked out at start: the source of it."""
    aliases: tuple[str, ...] = ()
    """Other names: -tp."""
    negations: tuple[str, ...] = ()
    """Names that set a boolean to false: --no-x, and --disable-x from 0.33.0."""
    many: str = ""
    """How many words follow: "+" for one or more, "2" for two, "repeated" for one each time; "" for one."""
    value_optional: bool = False
    """The value may be left out."""
    accepts_none: bool = False
    """The word None stands for unset."""
    deprecated: bool = False
    """The release accepts it and says that it will go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A flag that an earlier release had: rendering it is fatal."""

    since: str
    """The first catalogued release without it."""
    instead: str
    """What to write instead, or why nothing is needed."""


MetricType = Literal["gauge", "counter", "histogram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One Prometheus metric of one release."""

    name: str
    """As one writes it in a query; a histogram without _bucket, _sum or _count."""
    type: MetricType
    labels: tuple[str, ...]
    """Label names; "…" where the rest is known only at run time."""
    status: Literal["active", "deprecated", "hidden"] = "active"
    """Hidden metrics are exported only on request (--show-hidden-metrics-for-version)."""
    when: str = ""
    """What must be set for it to exist; empty for always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One HTTP path of the server."""

    path: str
    methods: tuple[str, ...]
    when: str = ""
    """What must be set for it to be served; empty for always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTier:
    """The defaults of batching on cards of at least some memory."""

    at_least_gib: float
    """Device memory from which the tier holds, in GiB."""
    sequences: int
    """Default of --max-num-seqs."""
    batched_tokens: int
    """Default of --max-num-batched-tokens."""
    only: tuple[str, ...] = ()
    """Parts of device names that the tier is limited to; empty for all."""
    but: tuple[str, ...] = ()
    """Parts of device names that the tier leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How a release behaves where no flag is given: what a plan must know and no table states."""

    generation: EngineGeneration
    """The engine core that runs by default."""
    counts_cuda_graphs: Literal["no", "opt-in", "yes"]
    """Whether the KV cache is sized with the memory of CUDA graphs taken off."""
    prefix_cache: Literal["off", "on", "on, hybrid models too"]
    """Whether prefix caching is on by default for generative decoder models."""
    chunked_prefill: Literal["off", "on"]
    """Whether long prompts are split over steps by default."""
    async_scheduling: Literal["absent", "off", "on when compatible"]
    """Whether the next step is scheduled while the current one runs."""
    drain: Literal["none", "on request"]
    """What SIGTERM does to running requests: cut, or finished within --shutdown-timeout."""
    queue_limit: Literal["none", "per process", "per server"]
    """Over what --max-num-queued-reqs counts."""
    model_option: Literal["refused", "taken"]
    """Whether `vllm serve` takes the model as --model as well as a word of its own."""
    batching: tuple[BatchTier, ...]
    """Defaults by card, the largest first; the last holds for every card."""

    def tier(self, memory: Bytes, card: str) -> BatchTier:
        """The batching defaults on a card of this memory and device name (`NVIDIA H100 80GB HBM3`)."""
        name = card.lower()
        for tier in self.batching:
            allowed = not tier.only or any(part in name for part in tier.only)
            if memory >= tier.at_least_gib * GIB and allowed and not any(part in name for part in tier.but):
                return tier
        return self.batching[-1]
