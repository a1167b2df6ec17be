"""Intents: what a plan wants of the engine, and how each release is told, or that it cannot be.

Code asks for an intent, never for a flag.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from chartgen.catalog.engine_spelling import (
    Cannot,
    Flags,
    Speller,
    Spelling,
    environment,
    fixed,
    flag,
    known_flags,
    member,
    switch,
)
from chartgen.kernel.decision import Json

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine

Intent = Literal[
    "context length",
    "tensor parallel",
    "pipeline parallel",
    "data parallel",
    "expert parallel",
    "max sequences",
    "batched tokens",
    "utilization",
    "kv cache bytes",
    "kv dtype",
    "quantization",
    "weight dtype",
    "block size",
    "prefix cache",
    "chunked prefill",
    "drain time",
    "queue limit",
    "queued token limit",
    "priority scheduling",
    "keep-alive",
    "stream keep-alive",
    "tool parser",
    "reasoning parser",
    "chat template",
    "chat template arguments",
    "async scheduling",
    "speculative decoding",
    "lora",
    "lora modules",
    "multimodal limits",
    "multimodal encoder split",
    "enforce eager",
    "generation config",
    "served model name",
    "no request logs",
    "access log exclusion",
    "safe defaults",
    "seed",
    "load format",
    "config format",
    "tokenizer mode",
    "trust remote code",
    "revision",
    "download dir",
    "hf overrides",
    "api server count",
    "attention backend",
    "attention config",
    "moe backend",
    "compilation config",
    "kv offloading",
    "engine ready timeout",
    "worker shutdown time",
]
"""What a plan can ask of an engine."""


def _context_length(engine: Engine, value: Json) -> Spelling:
    known = engine.flags["--max-model-len"]
    if value == "auto" and known.type != "suffixed integer or auto":
        return Cannot(because=f"vLLM {engine.release} does not fit the context to memory: auto came with 0.14.0")
    return Flags(flags={"--max-model-len": value}, because=f"vLLM {engine.release} knows --max-model-len")


def _tool_parser(engine: Engine, value: Json) -> Spelling:
    spelled = member("--tool-call-parser", lambda of: of.tool_parsers, "tool parser")(engine, value)
    if isinstance(spelled, Flags):
        return known_flags(engine, {"--enable-auto-tool-choice": True, **spelled.flags})
    return spelled


def _reasoning_parser(engine: Engine, value: Json) -> Spelling:
    spelled = member("--reasoning-parser", lambda of: of.reasoning_parsers, "reasoning parser")(engine, value)
    asks = engine.flags.get("--enable-reasoning")
    if isinstance(spelled, Flags) and asks is not None and not asks.deprecated:
        return known_flags(engine, {"--enable-reasoning": True, **spelled.flags})
    return spelled


def _speculation(engine: Engine, value: Json) -> Spelling:
    """Speculative decoding, as {"method", "num_speculative_tokens", "model"}; the model is optional."""
    assert isinstance(value, dict)  # noqa: S101 - the planner's own value
    if engine.flag("--speculative-config") is not None:
        methods = engine.flags["--spec-method"].choices if "--spec-method" in engine.flags else ()
        if methods and value.get("method") not in methods:
            names = ", ".join(str(method) for method in methods)
            return Cannot(
                because=f"vLLM {engine.release} has no speculative method {value.get('method')}; it has {names}"
            )
        return known_flags(engine, {"--speculative-config": value})
    if value.get("model") is None:
        return Cannot(because=f"vLLM {engine.release} speculates with a draft model only")
    return known_flags(
        engine,
        {"--speculative-model": value["model"], "--num-speculative-tokens": value["num_speculative_tokens"]},
    )


def _adapters(engine: Engine, value: Json) -> Spelling:
    """LoRA, as {"max": adapters in one batch, "rank": highest rank}."""
    assert isinstance(value, dict)  # noqa: S101 - the planner's own value
    return known_flags(engine, {"--enable-lora": True, "--max-loras": value["max"], "--max-lora-rank": value["rank"]})


def _adapter_modules(engine: Engine, value: Json) -> Spelling:
    """LoRA adapters to serve from the start, as {name: path}."""
    assert isinstance(value, dict)  # noqa: S101 - the planner's own value
    return known_flags(engine, {"--lora-modules": [f"{name}={path}" for name, path in value.items()]})


def _multimodal_limits(engine: Engine, value: Json) -> Spelling:
    """How many items of each kind one prompt may hold, as {"image": 2}."""
    assert isinstance(value, dict)  # noqa: S101 - the planner's own value
    name = "--limit-mm-per-prompt"
    if engine.flags[name].type == "json":
        return Flags(flags={name: value}, because=f"{name} takes JSON on {engine.release}")
    pairs = ",".join(f"{kind}={count}" for kind, count in value.items())
    return Flags(flags={name: pairs}, because=f"{name} takes image=2 on {engine.release}, JSON from 0.8.5")


def _no_request_logs(engine: Engine, _: Json) -> Spelling:
    if "--enable-log-requests" in engine.flags:
        return Flags(flags={}, because=f"vLLM {engine.release} logs requests only with --enable-log-requests")
    return known_flags(engine, {"--disable-log-requests": True})


def _access_log(engine: Engine, value: Json) -> Spelling:
    """Paths to leave out of the access log, as a list."""
    assert isinstance(value, list)  # noqa: S101 - the planner's own value
    paths = ",".join(str(path) for path in value)
    otherwise = "paths can be left out of the access log from 0.16.0 on"
    return flag("--disable-access-log-for-endpoints", otherwise=otherwise)(engine, paths)


def _attention_backend(engine: Engine, value: Json) -> Spelling:
    if engine.flag("--attention-backend") is not None:
        return known_flags(engine, {"--attention-backend": value})
    return environment("VLLM_ATTENTION_BACKEND", otherwise="it neither has --attention-backend nor the variable")(
        engine,
        value,
    )


def _safe_defaults(engine: Engine, _: Json) -> Spelling:
    """What every chart sets: no prompts in the log, no log lines of probes and scrapes."""
    flags: dict[str, Json] = {}
    reasons = []
    for spelled in (_no_request_logs(engine, None), _access_log(engine, ["/health", "/metrics"])):
        if isinstance(spelled, Flags):
            flags |= spelled.flags
        reasons.append(spelled.because)
    return Flags(flags=flags, because="; ".join(reasons))


_NO_DRAIN: Final = "SIGTERM cuts running requests; --shutdown-timeout came with 0.18.0"
_NO_LIMIT: Final = "its queue has no limit; --max-num-queued-reqs came with 0.29.0"
_NO_PROMPT_LIMIT: Final = "its queue has no limit; --max-num-queued-tokens came with 0.29.0"

INTENTS: Final[Mapping[Intent, Speller]] = {
    "context length": _context_length,
    "tensor parallel": flag("--tensor-parallel-size"),
    "pipeline parallel": flag("--pipeline-parallel-size"),
    "data parallel": flag("--data-parallel-size"),
    "expert parallel": switch("--enable-expert-parallel"),
    "max sequences": flag("--max-num-seqs"),
    "batched tokens": flag("--max-num-batched-tokens"),
    "utilization": flag("--gpu-memory-utilization"),
    "kv cache bytes": flag("--kv-cache-memory-bytes"),
    "kv dtype": member("--kv-cache-dtype", lambda of: of.kv_dtypes, "KV cache type"),
    "quantization": member("--quantization", lambda of: of.quantizations, "quantization"),
    "weight dtype": flag("--dtype"),
    "block size": flag("--block-size"),
    "prefix cache": switch("--enable-prefix-caching"),
    "chunked prefill": switch("--enable-chunked-prefill"),
    "drain time": flag("--shutdown-timeout", otherwise=_NO_DRAIN),
    "queue limit": flag("--max-num-queued-reqs", otherwise=_NO_LIMIT),
    "queued token limit": flag("--max-num-queued-tokens", otherwise=_NO_PROMPT_LIMIT),
    "priority scheduling": fixed({"--scheduling-policy": "priority"}),
    "keep-alive": environment(
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE",
        otherwise="it closes idle connections after five seconds and cannot be told otherwise",
    ),
    "stream keep-alive": flag("--sse-keep-alive-interval"),
    "tool parser": _tool_parser,
    "reasoning parser": _reasoning_parser,
    "chat template": flag("--chat-template"),
    "chat template arguments": flag("--default-chat-template-kwargs"),
    "async scheduling": switch("--async-scheduling"),
    "speculative decoding": _speculation,
    "lora": _adapters,
    "lora modules": _adapter_modules,
    "multimodal limits": _multimodal_limits,
    "multimodal encoder split": flag("--mm-encoder-tp-mode"),
    "enforce eager": switch("--enforce-eager"),
    "generation config": flag("--generation-config"),
    "served model name": flag("--served-model-name"),
    "no request logs": _no_request_logs,
    "access log exclusion": _access_log,
    "safe defaults": _safe_defaults,
    "seed": flag("--seed"),
    "load format": flag("--load-format"),
    "config format": flag("--config-format"),
    "tokenizer mode": flag("--tokenizer-mode"),
    "trust remote code": switch("--trust-remote-code"),
    "revision": flag("--revision"),
    "download dir": flag("--download-dir"),
    "hf overrides": flag("--hf-overrides"),
    "api server count": flag("--api-server-count"),
    "attention backend": _attention_backend,
    "attention config": flag("--attention-config"),
    "moe backend": flag("--moe-backend"),
    "compilation config": flag("--compilation-config"),
    "kv offloading": flag("--kv-offloading-size"),
    "engine ready timeout": environment(
        "VLLM_ENGINE_READY_TIMEOUT_S",
        otherwise="it does not bound the start of its engine; the variable came with 0.14.0",
    ),
    "worker shutdown time": environment(
        "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS",
        otherwise="the time its workers have to stop cannot be set; the variable came with 0.24.0",
    ),
}
"""Every intent, with its speller."""


def spell(engine: Engine, intent: Intent, value: Json) -> Spelling:
    """How `engine` is told to do `intent`."""
    return INTENTS[intent](engine, value)
