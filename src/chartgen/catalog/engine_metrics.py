"""Concepts that dashboards, alerts and triggers ask for, and the metrics that have said them, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from chartgen.catalog.engine_types import Metric

Concept = Literal[
    "requests running",
    "requests waiting",
    "requests waiting by reason",
    "kv cache usage",
    "time to first token",
    "inter-token latency",
    "end-to-end latency",
    "queue time",
    "prefill time",
    "decode time",
    "preemptions",
    "prefix cache hits",
    "prefix cache queries",
    "prompt tokens",
    "generation tokens",
    "prompt length",
    "generation length",
    "requests finished",
    "admission rejections",
    "cache settings",
    "LoRA adapters",
    "draft tokens",
    "accepted draft tokens",
]
"""What a dashboard shows or an alert watches, whatever the release calls it."""

NAMES: Final[Mapping[Concept, tuple[str, ...]]] = {
    "requests running": ("vllm:num_requests_running",),
    "requests waiting": ("vllm:num_requests_waiting",),
    "requests waiting by reason": ("vllm:num_requests_waiting_by_reason",),
    "kv cache usage": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    "time to first token": ("vllm:time_to_first_token_seconds",),
    "inter-token latency": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    "end-to-end latency": ("vllm:e2e_request_latency_seconds",),
    "queue time": ("vllm:request_queue_time_seconds",),
    "prefill time": ("vllm:request_prefill_time_seconds",),
    "decode time": ("vllm:request_decode_time_seconds",),
    "preemptions": ("vllm:num_preemptions_total",),
    "prefix cache hits": ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
    "prefix cache queries": ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
    "prompt tokens": ("vllm:prompt_tokens_total",),
    "generation tokens": ("vllm:generation_tokens_total",),
    "prompt length": ("vllm:request_prompt_tokens",),
    "generation length": ("vllm:request_generation_tokens",),
    "requests finished": ("vllm:request_success_total",),
    "admission rejections": ("vllm:admission_rejections_total",),
    "cache settings": ("vllm:cache_config_info",),
    "LoRA adapters": ("vllm:lora_requests_info",),
    "draft tokens": ("vllm:spec_decode_num_draft_tokens_total",),
    "accepted draft tokens": ("vllm:spec_decode_num_accepted_tokens_total",),
}
_ONLY_WITH_FEATURE: Final = {"LoRA adapters", "draft tokens", "accepted draft tokens"}
"""Concepts that exist only where their feature is on: their condition is no reason to leave them out."""


def metric(metrics: Mapping[str, Metric], concept: Concept) -> Metric | None:
    """The release's metric for a concept: exported by default, not hidden; None when there is none."""
    for name in NAMES[concept]:
        found = metrics.get(name)
        if found is not None and found.status != "hidden" and (not found.when or concept in _ONLY_WITH_FEATURE):
            return found
    return None


def names_of(concept: Concept) -> tuple[str, ...]:
    """Every name that a release has used for a concept, newest first."""
    return NAMES[concept]


def concept_of(name: str) -> Concept | None:
    """The concept that a metric name, of whatever release, says."""
    for concept, names in NAMES.items():
        if name in names:
            return concept
    return None
