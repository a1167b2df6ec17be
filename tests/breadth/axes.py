"""What varies from chart to chart, and the profile of each choice."""

from __future__ import annotations

from typing import Any, Final

import yaml

from breadth.pairs import Axis, Row
from chartgen.catalog.clouds import cloud_names, load_cloud
from chartgen.catalog.engines import releases
from chartgen.catalog.gateways import gateway_names, load_gateway
from chartgen.catalog.gpus import gpu, gpus
from chartgen.catalog.models import models
from cluster.controlplane import MINORS

_COMMIT: Final = "0123456789abcdef" * 2 + "01234567"
ALLOCATIONS: Final[dict[str, dict[str, Any]]] = {
    "whole": {},
    "spot": {"cluster": {"spot": True}},
    "nodes": {"nodes": {"most": 4, "same_domain": "topology.example.com/rack", "fast_network": True}},
    "nvlink-domain": {"nodes": {"most": 4, "compute_domain": True}},
    "mig-mixed": {"cluster": {"allocation": {"by": "mig", "strategy": "mixed"}}},
    "mig-single": {"cluster": {"allocation": {"by": "mig", "strategy": "single"}}},
    "claim": {"cluster": {"allocation": "dra"}},
    "claim-slice": {},
    "claim-prefer": {},
    "time-slicing": {"cluster": {"allocation": {"by": "time-slicing", "clients": 2}}},
    "mps": {"cluster": {"allocation": {"by": "mps", "clients": 2, "renamed": True}}},
}
"""How pods get their GPUs, as parts of a profile; a slice and a preferred card depend on the card."""
WISHES: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    "queue": {"cluster": {"queue": {"name": "models", "priority_class": "nightly"}, "runtime_class": "nvidia"}},
    "secrets": {
        "weights": {"token_secret": "hub-token", "checksum": "sha256:" + "0" * 64, "revision": _COMMIT},
        "access": {"api_key_secret": "api-key"},
        "cluster": {"monitor_labels": {"release": "prometheus"}, "priority_class": "serving"},
    },
    "owner": {"owner": {"team": "R&D: 'search' {{ .Values }}", "cost_centre": "[0123]", "on_call": '"#a" $(b) %c'}},
    "features": {"features": ["tools", "reasoning", "vision", "speculation"]},
    "claim": {"weights": {"from": "pvc:weights/models"}},
    "unscaled": {"cluster": {"autoscaler": "none", "spare_gpus": 8}},
    "load": {
        "traffic": {"requests_per_second": 20, "prompt_tokens": 500, "answer_tokens": 200, "burst": 2},
        "objectives": {"time_to_first_token": "5s", "inter_token_latency": "200ms"},
    },
    "pending": {"traffic": {"pending_query": 'sum(rabbitmq_queue_messages_ready{queue="work"})'}},
}
"""What else may be asked for, as parts of a profile."""
_LARGE: Final = ("h200-sxm-141gb", "b300-sxm-288gb", "gb300-288gb")
"""Cards that carry nearly every model, by each way to get GPUs, on each cloud."""
_PREFERRED: Final = {
    "nvidia": ("h200-sxm-141gb", "h100-sxm-80gb"),
    "amd": ("mi325x-256gb", "mi300x-192gb"),
}
"""What a claim takes before the card of its row: the first that is another card."""


def axes() -> list[Axis]:
    """All axes: for models one of each architecture, for vLLM the last release of each minor."""
    architectures = {model.architecture: model.id for model in sorted(models(), key=lambda one: one.id, reverse=True)}
    minors = {tuple(release.split(".")[:2]): release for release in releases()}
    return [
        Axis(name="minor", values=MINORS, easy=MINORS[-1:]),
        Axis(name="class", values=("interactive", "batch", "dev"), easy=("interactive", "batch", "dev")),
        Axis(name="wish", values=tuple(WISHES), easy=("nothing",)),
        Axis(name="cloud", values=cloud_names(), easy=("on-prem", "eks")),
        Axis(name="allocation", values=tuple(ALLOCATIONS), easy=("whole", "nodes")),
        Axis(name="exposure", values=("none", *gateway_names()), easy=("none",)),
        Axis(name="release", values=tuple(minors.values()), easy=(releases()[-1],)),
        Axis(name="card", values=tuple(card.key for card in gpus()), easy=_LARGE),
        Axis(name="model", values=tuple(sorted(architectures.values())), easy=("Qwen/Qwen2.5-0.5B-Instruct",)),
    ]


def text_of(row: Row) -> str:
    """The profile of a row as its file."""
    return yaml.safe_dump(profile(row), sort_keys=False)


def profile(row: Row) -> dict[str, Any]:
    """The profile of a row."""
    minor, class_, wish, cloud, allocation, exposure, release, card, model = row
    made: dict[str, Any] = {
        "model": model,
        "gpu": card,
        "context": "1k",
        "region": next(iter(load_cloud(cloud).regions), "somewhere-1"),
        "name": "row",
        "class": class_,
        "engine": {"release": release},
        "owner": {"team": "models"},
        "weights": {"revision": _COMMIT},
    }
    cluster: dict[str, Any] = {"cloud": cloud, "kubernetes": minor, **_exposure(exposure)}
    for wanted in (ALLOCATIONS[allocation], WISHES[wish]):
        cluster |= wanted.get("cluster", {})
        made |= {key: value for key, value in wanted.items() if key != "cluster"}
    if allocation == "claim-slice":
        cluster["allocation"] = {"by": "dra", "profile": [*gpu(card).mig, "1g.10gb"][0]}
    elif allocation == "claim-prefer":
        other = next(one for one in _PREFERRED[gpu(card).vendor] if one != card)
        cluster["allocation"] = {"by": "dra", "same_root": True, "prefer": [other]}
    return {**made, "cluster": cluster}


def _exposure(name: str) -> dict[str, str]:
    if name == "none":
        return {}
    attached = {"gateway": "infra/public"} if load_gateway(name).carries == "route" else {"tls_secret": "host-tls"}
    return {"ingress": name, "host": "model.example.com", **attached}
