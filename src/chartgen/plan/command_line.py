"""What the engine is told: intents from the plan, spelled by the planned release."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption
from chartgen.catalog.families import Vendor, family_of
from chartgen.kernel.decision import Decision, Json, asked, fact, worked_out
from chartgen.plan.flags import CommandLine
from chartgen.plan.route import keep_alive
from chartgen.plan.types import Batching, Carries, Drain, HubCache, Layout, Route, Storage
from chartgen.resolve import Resolved


def plan_command_line(
    resolved: Resolved,
    layout: Layout,
    batching: Batching,
    carries: Carries,
    drain: Drain,
    route: Route | None,
    storage: Storage,
) -> CommandLine:
    """Ask for everything that the plan decides, and nothing that the release does well by itself."""
    line = CommandLine(resolved.engine)
    line.ask("context length", batching.context_length)
    if layout.tensor_parallel.value > 1 and not layout.counts_differ:
        line.ask("tensor parallel", layout.tensor_parallel)
    if layout.pipeline_parallel.value > 1:
        line.ask("pipeline parallel", layout.pipeline_parallel)
    if layout.expert_parallel.value:
        line.ask("expert parallel", layout.expert_parallel)
    line.ask("max sequences", batching.sequences)
    line.ask("batched tokens", batching.batched_tokens)
    line.ask("utilization", batching.utilization)
    if batching.kv_dtype.value != "auto":
        line.ask("kv dtype", batching.kv_dtype)
    if layout.quantize_at_load:
        line.ask("quantization", layout.precision)
    line.ask("prefix cache", fact(True, "Requests that share a prefix, such as a system prompt, skip its prefill"))
    line.ask("queue limit", _queue_limit(resolved, batching, carries))
    if drain.drain.value:
        line.ask("drain time", drain.drain)
    line.ask("no request logs", fact(True, "Prompts are the users' own and belong in no log"))
    quiet: list[Json] = ["/health", "/metrics"]
    line.ask("access log exclusion", fact(quiet, "Probes and scrapes would drown the requests in the log"))
    idle = keep_alive(route.settings if route else None)
    if idle is not None:
        line.ask("keep-alive", idle)
    _storage(line, storage)
    _family(line, resolved, layout)
    return line


def _queue_limit(resolved: Resolved, batching: Batching, carries: Carries) -> Decision[int]:
    """Requests in flight, running and waiting, beyond which one more is refused at once."""
    patience = assumption("queue-patience-interactive" if resolved.interactive else "queue-patience-batch")
    running, rate = batching.sequences.value, carries.requests_per_second.value
    waiting = math.ceil(rate * patience.value) if rate > 0 else running
    return worked_out(
        running + waiting,
        f"{running} that run and {waiting} that wait: what a replica at {rate:.2g} requests/s works off in "
        f"{patience.value:.0f} s, as {patience.because}; one more is refused at once with 503",
    )


def _family(line: CommandLine, resolved: Resolved, layout: Layout) -> None:
    """What belongs to the model rather than to the workload: parsers, tokenizer, drafts."""
    model, features = resolved.model, frozenset(resolved.profile.features)
    family = family_of(model.id, model.architecture)
    if family is None:
        if features:
            line.unsaid.append(f"No engine settings are known for {', '.join(sorted(features))} with {model.id}")
        return
    vendor: Vendor = "amd" if resolved.gpu.vendor == "amd" else "nvidia"
    chosen = family.choose(line.engine, model.id, features=features, vendor=vendor, gpus=layout.most_gpus_per_node)
    for one in chosen:
        because = f"{one.setting.because} ({family.title}; {one.setting.source})"
        line.take(one.setting.intent, one.spelling, fact(one.value, because))
    for feature in features - {one.setting.feature for one in chosen}:
        line.unsaid.append(f"{family.title} need no setting for {feature}, or none is known")


_HOME = {
    "HOME": ("/home/vllm", "A home that may be written: the user of the pod owns no folder of the image"),
    "USER": ("vllm", "A name for a user id that the image does not know, as libraries ask for one"),
    "VLLM_CACHE_ROOT": ("/home/vllm/.cache/vllm", "Compiled kernels and graphs go where the pod may write"),
}


def _storage(line: CommandLine, storage: Storage) -> None:
    if isinstance(storage, HubCache):
        because = "The hub's cache lies on the volume, so that the next start finds the weights"
        line.env["HF_HOME"] = fact(f"{storage.mount_path.value}/hub", because)
        if storage.revision.origin == "asked" and line.engine.flag("--revision"):
            line.flags["revision"] = asked(storage.revision.value, storage.revision.because)
    else:
        line.env["HF_HUB_OFFLINE"] = fact("1", "The weights are on the claim, so nothing is asked of the hub")
    line.env |= {name: fact(value, because) for name, (value, because) in _HOME.items()}
