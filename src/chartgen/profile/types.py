"""What a user asks for, in names only: nothing in here is worked out.

The annotations are the documentation: the committed JSON Schema, the editor's completion and the error
messages are all made from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from chartgen.kernel.structure import Record, about
from chartgen.profile import words
from chartgen.profile.placement import Allocation, Mode, Nodes, Queue


class Context(Record, frozen=True, kw_only=True):
    """The longest request to serve, split into what goes in and what comes out."""

    prompt: Annotated[words.Tokens, about("Tokens of the longest prompt.", examples=["6k"])]
    answer: Annotated[words.Tokens, about("Tokens of the longest answer.", examples=["2k"])]


class EngineChoice(Record, frozen=True, kw_only=True):
    """Which vLLM runs."""

    release: Annotated[words.Release | None, about("The vLLM release; the newest known when left out.")] = None
    image: Annotated[words.Image | None, about("The image; upstream's for the release when left out.")] = None


class Traffic(Record, frozen=True, kw_only=True):
    """What arrives at peak."""

    requests_per_second: Annotated[
        Annotated[float, about("Requests each second.", gt=0, le=100_000)] | None,
        about("Requests each second at peak, over all replicas.", examples=[2.5]),
    ] = None
    prompt_tokens: Annotated[words.Tokens | None, about("Tokens of a typical prompt.")] = None
    answer_tokens: Annotated[words.Tokens | None, about("Tokens of a typical answer.")] = None
    burst: Annotated[
        Annotated[float, about("A factor.", ge=1, le=100)] | None,
        about("How many times the peak rate a short burst reaches.", examples=[2]),
    ] = None
    pending_query: Annotated[
        words.Line | None,
        about(
            "A PromQL query for work that waits outside the engine: lets batch work go to zero replicas.",
            examples=['sum(rabbitmq_queue_messages_ready{queue="summaries"})'],
        ),
    ] = None


class Objectives(Record, frozen=True, kw_only=True):
    """How fast it has to feel."""

    time_to_first_token: Annotated[words.Duration | None, about("Longest wait for the first token.")] = None
    inter_token_latency: Annotated[words.Duration | None, about("Longest gap between tokens.")] = None


class Measured(Record, frozen=True, kw_only=True):
    """Your own measurement of one replica: it overrides the estimate."""

    requests_per_second: Annotated[
        Annotated[float, about("Requests each second.", gt=0, le=100_000)] | None,
        about("Requests each second that one replica served inside the objectives."),
    ] = None


class Cluster(Record, frozen=True, kw_only=True):
    """What the cluster at hand is and has."""

    kubernetes: Annotated[words.Minor | None, about("The Kubernetes minor.")] = None
    cloud: Annotated[str | None, about("Whose Kubernetes: see `chartgen catalog clouds`.", examples=["eks"])] = None
    allocation: Annotated[
        Mode | Allocation,
        about("How a pod gets its GPUs: a word, or a mapping with `by` and what else has to be said."),
    ] = "whole"
    zones: Annotated[tuple[words.Zone, ...], about("Zones that may be used; all when left out.")] = ()
    spot: Annotated[bool, about("Interruptible nodes, for class batch only.")] = False
    priority_class: Annotated[words.Name | None, about("A PriorityClass that exists.")] = None
    runtime_class: Annotated[words.Name | None, about("A RuntimeClass that exists; K3s and RKE2 need nvidia.")] = None
    queue: Annotated[words.Name | Queue | None, about("The Kueue LocalQueue in which pods wait for quota.")] = None
    spare_gpus: Annotated[
        Annotated[int, about("GPUs.", ge=0)] | None,
        about("GPUs of the kind that stay free, for a rolling update to use."),
    ] = None
    prometheus: Annotated[words.Url | None, about("Where KEDA asks for metrics.")] = None
    autoscaler: Annotated[Literal["keda", "none"] | None, about("What scales the replicas.")] = None
    ingress: Annotated[
        str | None,
        about("What carries requests in: see `chartgen catalog gateways`.", examples=["nginx", "gateway-api"]),
    ] = None
    ingress_class: Annotated[words.Name | None, about("The IngressClass; the dialect's usual one else.")] = None
    gateway: Annotated[words.Gateway | None, about("The Gateway an HTTPRoute attaches to.")] = None
    host: Annotated[words.HostName | None, about("The host name that clients use.")] = None
    tls_secret: Annotated[words.SecretName | None, about("The Secret with the host's certificate.")] = None
    namespace: Annotated[words.Name | None, about("Where the release will live.")] = None
    monitor_labels: Annotated[
        dict[str, words.LabelValue] | None,
        about("Labels by which your Prometheus picks monitors.", examples=[{"release": "kube-prometheus-stack"}]),
    ] = None


class Weights(Record, frozen=True, kw_only=True):
    """Where the weights come from, and in which precision."""

    from_: Annotated[words.Origin | None, about("Where the weights come from.")] = None
    quantization: Annotated[
        str | None,
        about("Precision of the weights; the checkpoint's own when left out.", examples=["bf16", "fp8"]),
    ] = None
    revision: Annotated[words.Revision | None, about("The commit of the model repository.")] = None
    checksum: Annotated[
        words.Checksum | None,
        about("SHA-256 of model.safetensors.index.json, or of the only weight file; checked before each start."),
    ] = None
    storage_class: Annotated[words.Name | None, about("A ReadWriteMany class for the shared cache.")] = None
    token_secret: Annotated[words.SecretName | None, about("The Secret whose key `token` opens a gated model.")] = None


class Access(Record, frozen=True, kw_only=True):
    """Who may call the server."""

    api_key_secret: Annotated[words.SecretName | None, about("The Secret whose key `api-key` callers must send.")] = (
        None
    )


class Owner(Record, frozen=True, kw_only=True):
    """Who answers for it."""

    team: Annotated[words.Line | None, about("The team.", examples=["search"])] = None
    cost_centre: Annotated[words.Line | None, about("Who pays.", examples=["CC-1234"])] = None
    on_call: Annotated[words.Line | None, about("Whom an alert wakes.", examples=["#llm-oncall"])] = None


class Profile(Record, frozen=True, kw_only=True):
    """A workload: four lines are enough, the rest has defaults with reasons."""

    model: Annotated[
        str,
        about(
            "A model of the catalog by its hub id, a bare size such as 70B, or the path of a config.json.",
            examples=["meta-llama/Llama-3.3-70B-Instruct", "70B", "./config.json"],
            min_length=1,
            max_length=300,
        ),
    ]
    gpu: Annotated[
        str,
        about("The card, by any usual name.", examples=["H100", "A100-80GB"], min_length=1, max_length=100),
    ]
    gpus: Annotated[
        Annotated[int, about("GPUs.", ge=1)] | None,
        about("The most GPUs that one replica may take of a node; all of it when left out.", examples=[4]),
    ] = None
    nodes: Annotated[words.NodeCount | Nodes, about("The most nodes that one replica may span.", examples=[2])] = 1
    context: Annotated[words.Tokens | Context, about("The longest request in tokens.", examples=["8k"])]
    region: words.Region
    name: Annotated[words.Name | None, about("The chart's name; the file's name when left out.")] = None
    class_: Annotated[
        Literal["interactive", "batch", "dev"],
        about(
            "interactive: somebody waits for the first token. batch: only throughput counts. dev: one person tries "
            "something, on one replica that nothing scales."
        ),
    ] = "interactive"
    features: Annotated[
        tuple[Literal["tools", "reasoning", "vision", "speculation"], ...],
        about("What the model is asked to do beyond text; each is switched on only here.", examples=[["tools"]]),
    ] = ()
    engine: EngineChoice = EngineChoice()
    traffic: Traffic = Traffic()
    objectives: Objectives = Objectives()
    measured: Measured = Measured()
    cluster: Cluster = Cluster()
    weights: Weights = Weights()
    access: Access = Access()
    owner: Owner = Owner()
    overrides: Annotated[
        dict[str, Any] | None,
        about(
            "Values of the chart by path, set against the plan, whose own value and reason stay in sight.",
            examples=[{"autoscaling.maxReplicas": 6}],
        ),
    ] = None
