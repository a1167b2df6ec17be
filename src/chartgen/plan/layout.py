"""How the model lies on GPUs, and how much runs at once."""

from __future__ import annotations

from chartgen.catalog.assumptions import assumption, number, sentence, whole
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.kernel.decision import Decision, asked, assumed, fact, worked_out
from chartgen.kernel.errors import InputError, InputProblem
from chartgen.kernel.units import Tokens, context, gib
from chartgen.memory.batching import Need
from chartgen.memory.fit import Deployment, Fit
from chartgen.memory.layouts import Layout as Found
from chartgen.memory.layouts import runs, smallest
from chartgen.plan.types import Batching, Layout
from chartgen.resolve import Resolved


def plan_layout(resolved: Resolved) -> tuple[Layout, Batching, Fit]:
    """The fewest GPUs that carry the context, and the batch limits that their KV cache allows.

    Raises:
        Infeasible: no allocation on one node does.
        InputError: the card cannot run the asked precision.
    """
    stored = resolved.model.checkpoint.scheme
    wanted = resolved.precision
    scheme = stored if wanted is None else wanted.key
    if not runs(resolved.gpu, scheme):
        raise InputError([_cannot_run(resolved, scheme)])
    typical = Tokens(resolved.lengths.typical_prompt.value + resolved.lengths.typical_answer.value)
    name = "full-length-requests-interactive" if resolved.interactive else "full-length-requests-batch"
    need = Need(longest=resolved.lengths.context.value, typical=typical, full_length=whole(name))
    node = resolved.cloud.value.largest(resolved.gpu.key) or whole("gpus-of-a-node")
    found = smallest(
        Deployment(
            model=resolved.model,
            gpu=resolved.gpu,
            release=resolved.engine.release,
            quantization=scheme if scheme != stored else None,
            gpu_memory_utilization=number("gpu-memory-utilization"),
        ),
        need,
        min(node, resolved.profile.gpus or node),
    )
    return _layout(found, scheme, stored), _batching(resolved, found.fit, need), found.fit


def _cannot_run(resolved: Resolved, scheme: str) -> InputProblem:
    path = ["weights", "quantization"] if resolved.precision else ["gpu"]
    known: Quantization = quantization(scheme)
    return resolved.loaded.problem(
        path,
        found=f"{known.title} on {resolved.gpu.title}",
        expected=f"a card that runs it: NVIDIA from compute capability {known.nvidia}" if known.nvidia else "another",
    )


def _layout(found: Found, scheme: str, stored: str) -> Layout:
    fit = found.fit
    size = fit.deployment.tensor_parallel
    rank = fit.deciding_rank
    fell = f"; {found.tried[-1].option}: {found.tried[-1].because}" if found.tried else ""
    return Layout(
        precision=_precision(scheme, stored),
        quantize_at_load=scheme != stored,
        tensor_parallel=worked_out(
            size,
            f"The fewest GPUs that do: of the {gib(rank.budget.best)} that the engine may use, each holds "
            f"{gib(rank.weights.best)} of weights and {gib(rank.kv_cache.best)} of KV cache{fell}",
        ),
        pipeline_parallel=fact(1, "All GPUs of a replica are in one node"),
        gpus=worked_out(size, f"One for each of {size} tensor parallel rank{'s' if size > 1 else ''}"),
    )


def _precision(scheme: str, stored: str) -> Decision[str]:
    title = quantization(scheme).title
    if scheme == stored:
        return fact(scheme, f"The checkpoint's own: {title}")
    return asked(scheme, f"The profile asks for {title}; the engine converts the weights while it loads")


def _batching(resolved: Resolved, fit: Fit, need: Need) -> Batching:
    limits = fit.limits
    pool = gib(fit.deciding_rank.kv_cache.best)
    held = fit.requests(need.typical)
    sequences = limits.max_num_seqs.value
    return Batching(
        context_length=resolved.lengths.context,
        sequences=worked_out(
            sequences,
            f"{pool} of KV cache hold {held} requests of typical length ({need.typical} tokens) and "
            f"{fit.requests(need.longest)} of the longest ({context(need.longest)}); a larger limit only costs memory",
        ),
        batched_tokens=worked_out(
            limits.max_num_batched_tokens.value, f"{sentence(limits.max_num_batched_tokens.because)}, written out"
        ),
        utilization=assumed(
            limits.gpu_memory_utilization.value, sentence(assumption("gpu-memory-utilization").because)
        ),
        kv_dtype=fact("auto", "The KV cache has the model's own type"),
        in_flight=worked_out(
            min(held, sequences),
            f"{pool} of KV cache hold {held} requests of {need.typical} tokens, and {sequences} may run at once",
        ),
    )
