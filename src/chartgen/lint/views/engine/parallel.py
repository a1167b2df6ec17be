"""How an engine spreads a model over GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.scalars import whole_number
from chartgen.lint.servers import Server, given, split_words, starts
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


_LOG: Final = "the server's log: it prints its arguments at start"


def other_parallel(server: Server, container: Mapping[str, Any]) -> tuple[ParallelView, Maybe[Json]]:
    """The parallel sizes of a server other than vLLM, and the number of nodes it is told; by its own options."""
    words = split_words(container)
    flags = server.parallel
    if flags is None or not starts(server, " ".join(words)):
        unknown = Unknown(because="the files do not tell how many GPUs it takes", run=_LOG)
        return ParallelView(tensor=unknown, pipeline=unknown, data=unknown, total=unknown), unknown
    elsewhere = _last(words, flags.files) is not None
    tensor = _told(words, flags.tensor, otherwise_unknown=elsewhere or flags.takes_all)
    pipeline = _told(words, flags.pipeline, otherwise_unknown=elsewhere)
    data = _told(words, flags.data, otherwise_unknown=elsewhere)
    if _last(words, flags.data_inside) is not None:
        data = 1
    sizes = (tensor, pipeline, data)
    unknown_size = next((size for size in sizes if isinstance(size, Unknown)), None)
    total: Maybe[int] = unknown_size or _product([size for size in sizes if isinstance(size, int)])
    return ParallelView(tensor=tensor, pipeline=pipeline, data=data, total=total), _last(words, flags.nodes)


def _last(words: Sequence[str], flags: tuple[str, ...]) -> str | None:
    """The value of the last of the options; None when none is given."""
    return next(iter(reversed(list(given(words, flags)))), None)


def _told(words: Sequence[str], flags: tuple[str, ...], *, otherwise_unknown: bool) -> Maybe[int]:
    written = _last(words, flags)
    if written is None and not otherwise_unknown:
        return 1
    size = whole_number(written or "")
    return Unknown(because="the files do not tell how many GPUs it takes", run=_LOG) if size is None else size


def _size(value: Maybe[Json]) -> Maybe[int]:
    if isinstance(value, Unknown):
        return value
    return value if isinstance(value, int) and not isinstance(value, bool) else 1


def _product(sizes: list[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
