"""Features: what a release can do beyond serving, each with how the catalogue tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine


Feature = Literal[
    "drain",
    "queue limit",
    "queued token limit",
    "priority scheduling",
    "async scheduling",
    "speculative config",
    "expert parallel",
    "data parallel",
    "kv offloading",
    "access log exclusion",
    "stream keep-alive",
    "sleep mode",
    "automatic context length",
    "keep-alive",
    "engine ready timeout",
    "waiting by reason",
    "admission rejections counted",
    "responses API",
    "messages API",
    "load endpoint",
]
"""What a release can do beyond serving."""


def _has_flag(name: str) -> Callable[[Engine], bool]:
    return lambda engine: name in engine.flags


FEATURES: Final[Mapping[Feature, Callable[[Engine], bool]]] = {
    "drain": _has_flag("--shutdown-timeout"),
    "queue limit": _has_flag("--max-num-queued-reqs"),
    "queued token limit": _has_flag("--max-num-queued-tokens"),
    "priority scheduling": _has_flag("--scheduling-policy"),
    "async scheduling": _has_flag("--async-scheduling"),
    "speculative config": _has_flag("--speculative-config"),
    "expert parallel": _has_flag("--enable-expert-parallel"),
    "data parallel": _has_flag("--data-parallel-size"),
    "kv offloading": _has_flag("--kv-offloading-size"),
    "access log exclusion": _has_flag("--disable-access-log-for-endpoints"),
    "stream keep-alive": _has_flag("--sse-keep-alive-interval"),
    "sleep mode": _has_flag("--enable-sleep-mode"),
    "automatic context length": lambda of: of.flags["--max-model-len"].type == "suffixed integer or auto",
    "keep-alive": lambda of: "VLLM_HTTP_TIMEOUT_KEEP_ALIVE" in of.env,
    "engine ready timeout": lambda of: "VLLM_ENGINE_READY_TIMEOUT_S" in of.env,
    "waiting by reason": lambda of: of.metric("requests waiting by reason") is not None,
    "admission rejections counted": lambda of: of.metric("admission rejections") is not None,
    "responses API": lambda of: "/v1/responses" in of.endpoints,
    "messages API": lambda of: "/v1/messages" in of.endpoints,
    "load endpoint": lambda of: "/load" in of.endpoints,
}
"""Name to test."""
