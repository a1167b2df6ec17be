"""The memory of one GPU as a bar: a letter for each term, a dot for what stays free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chartgen.kernel.units import gib
from chartgen.memory.fit import Fit, Rank

Segment = tuple[str, str, float]
"""Letter, name and bytes of one term."""

WIDTH: Final = 64
LEGEND: Final = (
    "W weights  A activation  N buffers outside PyTorch  G CUDA graphs  K KV cache  . outside the engine's share"
)


def segments(rank: Rank, visible: float) -> list[Segment]:
    """The terms of one rank, and what of the card the engine leaves alone."""
    return [
        ("W", "weights", rank.weights.best),
        ("A", "activation", rank.activation.best),
        ("N", "non_torch", rank.non_torch.best),
        ("G", "cuda_graph", rank.cuda_graph.best),
        ("K", "kv_cache", max(0.0, rank.kv_cache.best)),
        (".", "outside", visible - rank.budget.best),
    ]


def bar(parts: Sequence[Segment], width: int = WIDTH) -> str:
    """One line of `width` letters; terms that exceed the card run past its end."""
    whole = sum(size for _, _, size in parts) or 1
    text, used, shown = "", 0.0, 0
    for letter, _, size in parts:
        used += size
        cells = round(used / whole * width) - shown
        text += letter * cells
        shown += cells
    return f"[{text}]"


def lines(fit: Fit) -> list[str]:
    """A bar for every GPU of a replica, alike ones once, and the legend."""
    share = fit.limits.gpu_memory_utilization.value
    each = fit.deployment.tensor_parallel
    drawn = []
    for rank in fit.ranks:
        first = rank.stage * each
        name = f"GPU {first}" if each == 1 else f"GPU {first} to {first + each - 1}"
        drawn.append(
            f"  {name.ljust(12)} {bar(segments(rank, rank.budget.best / share))} {gib(rank.budget.best / share)}"
        )
    return [*drawn, f"  {LEGEND}"]
