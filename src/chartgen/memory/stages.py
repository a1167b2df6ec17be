"""How a model is cut over pipeline stages: which layers, and which ends, each stage holds."""

from __future__ import annotations

from chartgen.catalog.model_attention import Mixer
from chartgen.catalog.models import Model
from chartgen.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One pipeline stage: layer counts by kind, and whether it holds the model's ends."""

    index: int
    """From 0."""
    of: int
    """How many stages there are."""
    mixers: tuple[tuple[Mixer, int], ...]
    """Each kind of token mixer with its layers on this stage."""
    dense: int
    """Dense feed-forward blocks on this stage."""
    expert: int
    """Mixture-of-experts blocks on this stage."""

    @property
    def first(self) -> bool:
        """The stage that holds the embedding."""
        return self.index == 0

    @property
    def last(self) -> bool:
        """The stage that holds the output head and the sampler."""
        return self.index == self.of - 1

    @property
    def layers(self) -> int:
        """Layers that mix tokens on this stage."""
        return sum(count for _, count in self.mixers)


def layer_counts(layers: int, stages: int) -> list[int]:
    """Layers of each stage, as the engine deals them.

    A remainder goes one each to the stages before the last, from the back
    (vLLM 0.33.0, vllm/distributed/utils.py, get_pp_indices).
    """
    counts = [layers // stages] * stages
    for place in range(2, layers % stages + 2):
        counts[-place] += 1
    return counts


def stages(model: Model, count: int) -> list[Stage]:
    """The stages of a model; kinds of layer are taken to be spread evenly, dense blocks to come first."""
    if count == 1:
        return [_whole(model)]
    counts = layer_counts(model.layers, count)
    kinds = [(kind, kind.layers) for kind in model.attention.kinds()]
    dense = model.feed_forward.layers if model.feed_forward else 0
    expert = model.experts.layers if model.experts else 0
    blocks = dense + expert
    cut, done = [], 0
    for index, layers in enumerate(counts):
        upto = done + layers
        mixers = tuple(
            (kind, _share(total, upto, model.layers) - _share(total, done, model.layers)) for kind, total in kinds
        )
        start, end = _share(blocks, done, model.layers), _share(blocks, upto, model.layers)
        here = max(0, min(end, dense) - start)
        cut.append(
            Stage(index=index, of=count, mixers=mixers, dense=here, expert=end - start - here),
        )
        done = upto
    return cut


def _whole(model: Model) -> Stage:
    return Stage(
        index=0,
        of=1,
        mixers=tuple((kind, kind.layers) for kind in model.attention.kinds()),
        dense=model.feed_forward.layers if model.feed_forward else 0,
        expert=model.experts.layers if model.experts else 0,
    )


def _share(total: int, part: int, whole: int) -> int:
    return (total * part + whole - 1) // whole
