"""How the model lies on GPUs: whole cards, a slice, a share, or what a claim may get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chartgen.catalog.assumptions import assumption, sentence, whole
from chartgen.catalog.gpus import Gpu
from chartgen.catalog.quantizations import quantization, quantizations
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, asked, assumed, fact, worked_out
from chartgen.kernel.errors import Attempt, Infeasible, InputError, InputProblem
from chartgen.kernel.units import Bytes, Tokens, gib
from chartgen.memory.batching import Need, batched, cautious
from chartgen.memory.deployment import Deployment
from chartgen.memory.fit import Fit, estimate
from chartgen.memory.layouts import Layout as Found
from chartgen.memory.layouts import first, shortage, smallest
from chartgen.memory.support import obstacle, refusal
from chartgen.plan import allocation
from chartgen.plan.allocation_types import Alternative
from chartgen.plan.types import Layout
from chartgen.profile.placement import Dra, Mig, Mps, TimeSlicing
from chartgen.resolve import Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A layout, and the memory arithmetic behind it."""

    layout: Layout
    """How the model lies on the profile's card."""
    fits: tuple[Fit, ...]
    """One for each alternative, in its order; one for a layout without a choice."""

    @property
    def stored(self) -> Bytes:
        """The weights of the whole model as they lie on disk, before the engine converts them."""
        own = self.fits[-1]
        if self.layout.quantize_at_load:
            own = estimate(replace(own.deployment, quantization=None))
        return Bytes(own.deployment.tensor_parallel * round(sum(rank.weights.best for rank in own.ranks)))


def plan_layout(resolved: Resolved) -> Laid:
    """The fewest GPUs that carry the context, or the smallest slice, for the card and for each that is preferred.

    Raises:
        Infeasible: no allocation does.
        InputError: a card cannot run the asked precision, or a preferred one does not carry the model.
    """
    problems = list(_cannot_run(resolved))
    if problems:
        raise InputError(problems)
    found = [*_preferred(resolved), _found(resolved, resolved.gpu)]
    return Laid(layout=_layout(resolved, found), fits=tuple(one.fit for one in found))


def need_of(resolved: Resolved) -> Need:
    """What one replica has to hold."""
    typical = Tokens(resolved.lengths.typical_prompt.value + resolved.lengths.typical_answer.value)
    name = "full-length-requests-interactive" if resolved.interactive else "full-length-requests-batch"
    return Need(longest=resolved.lengths.context.value, typical=typical, full_length=whole(name))


def utilization_of(resolved: Resolved) -> Decision[float]:
    """The share of a card's memory that the engine may use."""
    match resolved.allocation:
        case TimeSlicing(clients=clients) | Mps(clients=clients):
            return allocation.memory_share(clients)
        case _:
            found = assumption("gpu-memory-utilization")
            return assumed(found.value, sentence(found.because))


def _scheme(resolved: Resolved) -> str:
    wanted = resolved.precision
    return resolved.model.checkpoint.scheme if wanted is None else wanted.key


def _cannot_run(resolved: Resolved) -> Iterator[InputProblem]:
    scheme = quantization(_scheme(resolved))
    own = ("weights", "quantization") if resolved.precision else ("gpu",)
    places = [(card, ("cluster", "allocation", "prefer")) for card in resolved.preferred]
    for card, path in [(resolved.gpu, own), *places]:
        because = refusal(card, scheme, resolved.engine.release)
        if because is not None:
            expected = f"a card and a release that run it: {because}"
            yield resolved.loaded.problem(path, found=f"{scheme.title} on {card.title}", expected=expected)
    stored = quantization(resolved.model.checkpoint.scheme)
    if scheme.key != stored.key and not (scheme.at_load and stored.key == "none"):
        yield resolved.loaded.problem(
            own,
            found=f"{scheme.title} for {resolved.model.id}, whose checkpoint has {stored.title}",
            expected=f"a checkpoint stored that way as `model:`, or one of {_made_at_load()}, which the engine makes "
            "of plain weights while it loads",
        )


def _made_at_load() -> str:
    return ", ".join(key for key, scheme in quantizations().items() if scheme.at_load)


def _preferred(resolved: Resolved) -> Iterator[Found]:
    for at, card in enumerate(resolved.preferred):
        try:
            yield _found(resolved, card)
        except Infeasible as error:
            path = ("cluster", "allocation", "prefer", at)
            expected = f"a card that carries the model in one node: {error.missing}"
            raise InputError([resolved.loaded.problem(path, found=card.title, expected=expected)]) from error


def _found(resolved: Resolved, card: Gpu) -> Found:
    need, scheme = need_of(resolved), _scheme(resolved)
    deployment = Deployment(
        model=resolved.model,
        gpu=card,
        release=resolved.engine.release,
        quantization=scheme if scheme != resolved.model.checkpoint.scheme else None,
        gpu_memory_utilization=utilization_of(resolved).value,
    )
    match resolved.allocation:
        case Mig(profile=profile):
            return _on_slice(deployment, need, [profile] if profile else allocation.slices(card), _most(resolved, card))
        case Dra(profile=str(profile)):
            return _on_slice(deployment, need, [profile], _most(resolved, card))
        case TimeSlicing() | Mps():
            return smallest(deployment, need, 1)
        case _ if resolved.preferred:
            return smallest(deployment, need, _most(resolved, card))
        case _:
            return _on_nodes(resolved, deployment, need)


def _most(resolved: Resolved, card: Gpu) -> int:
    """The GPUs of one node that a replica may take."""
    node = resolved.cloud.value.largest(card.key) or max(card.per_node)
    return min(node, resolved.profile.gpus or node)


def _on_nodes(resolved: Resolved, deployment: Deployment, need: Need) -> Found:
    most, nodes = _most(resolved, deployment.gpu), resolved.nodes.most
    try:
        return smallest(deployment, need, most, nodes=nodes)
    except Infeasible as error:
        more = _more_nodes(deployment, need, most, nodes)
        if more is None:
            raise
        nearest = f"{error.nearest}; or {more}" if error.nearest else more
        raise Infeasible(subject=error.subject, missing=error.missing, tried=error.tried, nearest=nearest) from None


def _more_nodes(deployment: Deployment, need: Need, most: int, nodes: int) -> str | None:
    ceiling = whole("nodes-of-a-replica")
    if nodes >= ceiling:
        return None
    try:
        found = smallest(deployment, need, most, nodes=ceiling).fit.deployment
    except Infeasible:
        return None
    return f"nodes: {-(-found.gpus // most)}, for {found.gpus} x {found.gpu.title}"


def _on_slice(deployment: Deployment, need: Need, profiles: list[str], most: int) -> Found:
    """The first of the slices, smallest first, that carries the need by itself."""
    tried: list[Attempt] = []
    for profile in profiles:
        option = replace(deployment, mig=profile)
        because = shortage(cautious(option, need), need)
        if because is None:
            return Found(fit=batched(option, need), tried=tuple(tried))
        tried.append(Attempt(option=f"a {profile} slice", because=because))
    subject = f"{deployment.model.id} on a slice of {deployment.gpu.title}"
    nearest = _beyond_slice(deployment, need, most)
    raise Infeasible(subject=subject, missing=tried[-1].because, tried=tried, nearest=nearest)


def _beyond_slice(deployment: Deployment, need: Need, most: int) -> str | None:
    """The smallest slice of the card that does, or else whole cards."""
    for profile in allocation.slices(deployment.gpu):
        if shortage(cautious(replace(deployment, mig=profile), need), need) is None:
            return f"the slice {profile}"
    found = first(deployment, need, most)
    return f"allocation: whole, on {found.deployment.gpus} x {deployment.gpu.title}" if found else None


def _layout(resolved: Resolved, found: list[Found]) -> Layout:
    own = found[-1]
    deployment, scheme = own.fit.deployment, _scheme(resolved)
    stored = resolved.model.checkpoint.scheme
    nodes = -(-deployment.gpus // _most(resolved, resolved.gpu))
    several = len(found) > 1 or (deployment.mig and isinstance(resolved.allocation, Dra))
    return Layout(
        precision=_precision(scheme, stored),
        quantize_at_load=scheme != stored,
        tensor_parallel=_tensor(found),
        pipeline_parallel=_pipeline(deployment, nodes),
        expert_parallel=_experts(deployment, scheme),
        nodes=_nodes(own, nodes),
        gpus=_gpus(deployment),
        slice=_slice(resolved, own),
        alternatives=tuple(_alternative(one.fit.deployment) for one in found) if several else (),
    )


def _alternative(deployment: Deployment) -> Alternative:
    return Alternative(gpu=deployment.gpu, count=deployment.gpus, profile=deployment.mig)


def _precision(scheme: str, stored: str) -> Decision[str]:
    title = quantization(scheme).title
    if scheme == stored:
        return fact(scheme, f"The checkpoint's own: {title}")
    return asked(scheme, f"The profile asks for {title}; the engine converts the weights while it loads")


def _tensor(found: list[Found]) -> Decision[int]:
    own = found[-1]
    rank, size = own.fit.deciding_rank, own.fit.deployment.tensor_parallel
    fell = f"; {own.tried[-1].option}: {own.tried[-1].because}" if own.tried else ""
    because = (
        f"The fewest GPUs that do: of the {gib(rank.budget.best)} that the engine may use, each holds "
        f"{gib(rank.weights.best)} of weights and {gib(rank.kv_cache.best)} of KV cache{fell}"
    )
    others = [one.fit.deployment for one in found[:-1]]
    if others:
        words = ", ".join(f"{one.gpus} x {one.gpu.title}" for one in others)
        because = f"{because}. A claim may also get {words}: the start command counts what the pod got"
    return worked_out(size, because)


def _pipeline(deployment: Deployment, nodes: int) -> Decision[int]:
    stages = deployment.pipeline_parallel
    if stages == 1:
        return fact(1, "All GPUs of a replica share every layer")
    where = f"over {nodes} nodes" if nodes > 1 else "within the node"
    return worked_out(
        stages,
        f"{stages} stages of layers {where}, {deployment.tensor_parallel} GPUs in each: only activations pass between "
        "stages, once for each token",
    )


def _experts(deployment: Deployment, scheme: str) -> Decision[bool]:
    if not deployment.expert_parallel:
        return fact(False, "Every expert can be split over the GPUs that share a layer")
    because = obstacle(deployment.model, scheme, deployment.tensor_parallel)
    return worked_out(True, f"Experts lie whole on GPUs, since {because}")


def _nodes(found: Found, nodes: int) -> Decision[int]:
    if nodes == 1:
        return fact(1, "All GPUs of a replica are in one node")
    fell = found.tried[-1]
    return worked_out(nodes, f"The fewest nodes that do; {fell.option}: {fell.because}")


def _gpus(deployment: Deployment) -> Decision[int]:
    size, stages = deployment.tensor_parallel, deployment.pipeline_parallel
    if deployment.mig:
        return fact(1, "One slice: slices have no path to each other that tensor parallel could use")
    if size == stages == 1:
        return worked_out(1, "It carries the model by itself")
    ranks = f"{size} tensor parallel rank{'s' if size > 1 else ''}"
    return worked_out(
        size * stages, f"One for each of {ranks}" + (f" in each of {stages} stages" if stages > 1 else "")
    )


def _slice(resolved: Resolved, found: Found) -> Decision[str] | None:
    deployment = found.fit.deployment
    if deployment.mig is None:
        return None
    words = allocation.slice_words(deployment.gpu, deployment.mig)
    if isinstance(resolved.allocation, Mig | Dra) and resolved.allocation.profile:
        return asked(deployment.mig, f"The slice that the profile names: {words}")
    fell = f"; {found.tried[-1].option}: {found.tried[-1].because}" if found.tried else ""
    return worked_out(deployment.mig, f"The smallest slice that carries the model: {words}{fell}")
