"""The kinds of words a profile is written in: each with its pattern, so that user text stays data."""

from __future__ import annotations

from typing import Annotated

from chartgen.kernel.structure import about

_TOKENS = about("Tokens, as 8k for 8 x 1024.", examples=["8k"], pattern=r"^[0-9]{1,8}(\.[0-9]{1,3})?[kKmM]?$")
Tokens = Annotated[int, about("Tokens.", ge=1, le=100_000_000)] | Annotated[str, _TOKENS]
_TIME = r"^0*([1-9][0-9]{0,6}(\.[0-9]{1,6})?|0?\.0*[1-9][0-9]{0,5})(ms|s|m)?$"
_DURATION = about("A time.", examples=["2s", "50ms"], pattern=_TIME)
Duration = Annotated[float, about("Seconds.", gt=0, le=86_400)] | Annotated[str, _DURATION]
Name = Annotated[
    str,
    about("A Kubernetes name.", examples=["llm-serving"], pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"),
]
SecretName = Annotated[
    str,
    about(
        "The name of a Secret; its value is never read or rendered.",
        examples=["hub-token"],
        pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
    ),
]
HostName = Annotated[
    str,
    about(
        "A host name.",
        examples=["chat.example.com"],
        pattern=r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$",
        max_length=253,
    ),
]
Gateway = Annotated[
    str,
    about(
        "A Gateway as namespace/name, or a name in the release's own namespace.",
        examples=["infra/public"],
        pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length=127,
    ),
]
Url = Annotated[
    str,
    about(
        "An http or https address without user, query or fragment.",
        examples=["http://prometheus-operated.monitoring.svc:9090"],
        pattern=r"^https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?(/[A-Za-z0-9._/-]*)?$",
        max_length=500,
    ),
]
Region = Annotated[
    str,
    about(
        "The cloud's region, or a name of yours.",
        examples=["eu-west-1"],
        pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
    ),
]
Line = Annotated[str, about("Free text on one line.", examples=["search team"], pattern=r"^[^\x00-\x1f\x7f]{1,200}$")]
LabelValue = Annotated[
    str,
    about(
        "A label value.",
        examples=["kube-prometheus-stack"],
        pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
    ),
]
Release = Annotated[
    str,
    about(
        "A vLLM release.",
        examples=["0.33.0"],
        pattern=r"^v?[0-9]+(\.[0-9]+){1,3}(\.post[0-9]+)?$",
    ),
]
Image = Annotated[
    str,
    about(
        "A full image reference with a tag or digest.",
        examples=["registry.example.com/vllm/vllm-openai:v0.33.0"],
        pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._/:@-]{2,254}$",
    ),
]
Minor = Annotated[str, about("A Kubernetes minor.", examples=["1.34"], pattern=r"^1\.[0-9]{1,3}$")]
Origin = Annotated[
    str,
    about(
        "hub: the model hub, cached on a volume. pvc:CLAIM[/path]: a claim that holds them already.",
        examples=["hub", "pvc:llama-weights"],
        pattern=r"^(hub|pvc:[a-z0-9]([-a-z0-9]*[a-z0-9])?(/[A-Za-z0-9._-]+)*)$",
        max_length=300,
    ),
]
Revision = Annotated[str, about("A commit or tag.", examples=["main"], pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Checksum = Annotated[str, about("A digest.", examples=["sha256:" + "0" * 64], pattern=r"^sha256:[0-9a-f]{64}$")]
NodeCount = Annotated[int, about("Nodes.", ge=1, le=64)]
Card = Annotated[str, about("A card, by any usual name.", examples=["H200"], min_length=1, max_length=100)]
MigProfile = Annotated[
    str,
    about("A MIG profile.", examples=["3g.71gb"], pattern=r"^[0-9]{1,2}g\.[0-9]{1,3}gb(\+[a-z.]{1,10})?$"),
]
Zone = Annotated[
    str,
    about("A zone.", examples=["eu-west-1a"], pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"),
]
LabelKey = Annotated[
    str,
    about(
        "The key of a node label.",
        examples=["topology.example.com/rack"],
        pattern=r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
    ),
]
