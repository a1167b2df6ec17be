"""How an engine spreads a model over GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chartgen.kernel.decision import Json
from chartgen.lint.unknown import Maybe, Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelView:
    """The parallel sizes of an engine."""

    tensor: Maybe[int]
    """--tensor-parallel-size; 1 when it is not given."""
    pipeline: Maybe[int]
    """--pipeline-parallel-size; 1 when it is not given."""
    data: Maybe[int]
    """Data-parallel ranks that this pod (or group of pods) holds."""
    total: Maybe[int]
    """GPUs that the engine takes: the product of the three."""


def parallel_view(options: Mapping[str, Maybe[Json]]) -> ParallelView:
    """The parallel sizes that the options give."""
    tensor = _size(options["--tensor-parallel-size"])
    pipeline = _size(options["--pipeline-parallel-size"])
    local = options["--data-parallel-size-local"]
    data = _size(options["--data-parallel-size"] if local is None else local)
    sizes = (tensor, pipeline, data)
    unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
    total: Maybe[int] = unknown or _product([size for size in sizes if isinstance(size, int)])
    return ParallelView(tensor=tensor, pipeline=pipeline, data=data, total=total)


def _size(value: Maybe[Json]) -> Maybe[int]:
    if isinstance(value, Unknown):
        return value
    return value if isinstance(value, int) and not isinstance(value, bool) else 1


def _product(sizes: list[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
