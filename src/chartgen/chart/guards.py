"""What the chart's own schema refuses, each with the sentence that Helm prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chartgen.chart.types import Guard
from chartgen.plan.types import Plan


def engine_guards(plan: Plan) -> Iterator[Guard]:
    """Bounds of the engine's values: what the plan counts on, and what no pod can start with."""
    model = plan.storage.model.value
    yield _guard("engine.model", {"const": model}, f"{model}: memory is planned for it; change the profile's model")
    length = plan.batching.context_length.value
    yield _guard(
        "engine.flags.max-model-len",
        {"minimum": 1, "maximum": length},
        f"1 to {length}: the KV cache is planned for that length; change the profile's context",
    )
    yield _guard(
        "engine.flags.gpu-memory-utilization",
        {"anyOf": [{"type": "string"}, {"exclusiveMinimum": 0, "maximum": 1}]},
        "a share of the card's memory, above 0 and at most 1",
    )
    if "tensor-parallel-size" in plan.flags:
        size = plan.flags["tensor-parallel-size"].value
        yield _guard(
            "engine.flags.tensor-parallel-size",
            {"const": size},
            f"{size}: the pod asks for that many GPUs; change the profile's gpus, and render again",
        )
    yield _guard(
        "engine.flags",
        {"not": {"required": ["api-key"]}},
        "without api-key: a key on the command line is read by everybody; name a Secret in access.api_key_secret",
    )
    yield _guard("engine.port", {"minimum": 1024, "maximum": 65535}, "1024 to 65535: the pod's user is not root")
    yield _guard("service.port", {"minimum": 1, "maximum": 65535}, "1 to 65535")
    if "@" not in plan.resolved.image.value:
        yield _guard(
            "image.tag", {"not": {"enum": ["", "latest"]}}, "a tag that stays what it is: flags are made for a release"
        )
    least = plan.drain.answers
    yield _guard(
        "drain.gracePeriodSeconds",
        {"minimum": least + 1},
        f"more than {least}: the sleep before the stop and the drain take that long",
    )


def scaling_guards(plan: Plan) -> Iterator[Guard]:
    """Bounds of the replica counts."""
    minimum, load = plan.replicas.minimum.value, plan.start_up.replica
    fixed = not plan.resolved.autoscales
    if plan.resolved.interactive and minimum >= 1:
        yield _guard(
            "replicas" if fixed else "autoscaling.minReplicas",
            {"minimum": minimum},
            f"at least {minimum}: an interactive model that loses its only replica is away for a start of {load} s",
        )
    if not fixed:
        most = max(minimum, 1)
        yield _guard("autoscaling.maxReplicas", {"minimum": most}, f"at least {most}, the smallest number of replicas")


def secret_guards(path: str) -> Iterator[Guard]:
    """A Secret's name must be one."""
    yield _guard(path, {"pattern": "^[a-z0-9]"}, "the name of a Secret")


def _guard(path: str, rule: dict[str, Any], because: str) -> Guard:
    return Guard(path=path, rule=rule, because=because)
