"""Every name of a profile replaced by its facts, or told as a problem."""

from __future__ import annotations

from pathlib import Path

from chartgen.catalog.gpus import gpu
from chartgen.catalog.model_names import is_path
from chartgen.catalog.model_names import resolve as resolve_model
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.kernel.errors import InputError, InputProblem
from chartgen.profile import LoadedProfile
from chartgen.resolve.engine import resolve_engine
from chartgen.resolve.lengths import resolve_lengths, resolve_objective
from chartgen.resolve.placement import resolve_allocation, resolve_nodes, resolve_preferred, resolve_queue
from chartgen.resolve.platform import resolve_cloud, resolve_gateway, resolve_kubernetes
from chartgen.resolve.resolver import Resolver
from chartgen.resolve.types import Resolved


def resolve(loaded: LoadedProfile) -> Resolved:
    """Replace every name of the profile by its facts.

    Raises:
        InputError: names that the catalog does not have, and entries that contradict each other; all at once.
    """
    profile, resolver = loaded.profile, Resolver(loaded)
    folder = Path(loaded.file).parent
    asked = resolver.look_up(["model"], profile.model, lambda name: resolve_model(name, folder), "model")
    found = asked.model if asked else None
    card = resolver.look_up(["gpu"], profile.gpu, gpu, "GPU")
    runs, image = resolve_engine(resolver, card)
    cloud = resolve_cloud(resolver)
    gateway = resolve_gateway(resolver, cloud)
    kubernetes = resolve_kubernetes(resolver)
    lengths = resolve_lengths(resolver)
    first = resolve_objective(profile.objectives.time_to_first_token, "time-to-first-token")
    gap = resolve_objective(profile.objectives.inter_token_latency, "inter-token-latency")
    precision = _precision(resolver)
    allocation = resolve_allocation(resolver)
    preferred = resolve_preferred(resolver, card)
    if found is not None and lengths is not None and lengths.context.value > found.max_position_embeddings:
        most = f"at most {found.max_position_embeddings} tokens, the longest that {found.id} is made for"
        resolver.report(["context"], f"{lengths.context.value} tokens", most)
    if (
        asked is None
        or found is None
        or card is None
        or runs is None
        or cloud is None
        or lengths is None
        or resolver.problems
    ):
        raise InputError(sorted(resolver.problems, key=_order))
    return Resolved(
        loaded=loaded,
        model=found,
        model_says=asked.says,
        hub=None if is_path(profile.model) else found.id,
        gpu=card,
        preferred=preferred,
        allocation=allocation,
        nodes=resolve_nodes(resolver),
        queue=resolve_queue(resolver),
        engine=runs,
        image=image,
        cloud=cloud,
        kubernetes=kubernetes,
        gateway=gateway,
        lengths=lengths,
        first_token=first,
        token_gap=gap,
        precision=precision,
    )


def _order(problem: InputProblem) -> tuple[bool, int, int]:
    place = problem.position
    return (True, 0, 0) if place is None else (False, place.line, place.column)


_PLAIN = {"bf16", "bfloat16", "fp16", "float16"}
"""What people call unquantized weights."""


def _precision(resolver: Resolver) -> Quantization | None:
    name = resolver.loaded.profile.weights.quantization
    if name is None:
        return None
    if name.lower() in _PLAIN:
        return quantization("none")
    return resolver.look_up(["weights", "quantization"], name, quantization, "quantization")
