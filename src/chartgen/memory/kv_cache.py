"""The KV cache pool of one rank: groups of layers, bytes of a block, blocks of a request.

Follows the engine's own planner. Layers with the same cache form a bucket; every bucket is cut into groups
of one size, the last one padded; all groups draw blocks from one pool, and a block costs what the widest
group needs.
Source: vLLM 0.33.0, vllm/v1/core/kv_cache_planning.py, get_kv_cache_groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from chartgen.kernel.dataclass import dataclass
from chartgen.memory.cache_layers import CacheLayers


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Groups of layers with one block table each."""

    layers: CacheLayers
    """What its layers keep."""
    groups: int
    """How many such groups there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """How one rank's cache is organised, whatever its size."""

    groups: tuple[Group, ...]
    """The groups by kind."""
    bytes_per_block: int
    """Bytes that one block id costs over all layers of a group."""
    in_flight: int
    """Tokens scheduled but not settled, which windows and chunks hold on top."""
    states: int
    """State slots of one sequence."""

    def blocks_for(self, length: int) -> int:
        """Blocks that one request of `length` tokens needs over all groups."""
        return sum(group.groups * group.layers.blocks(length, self.in_flight, self.states) for group in self.groups)

    def request_bytes(self, length: int) -> int:
        """Bytes that one request of `length` tokens holds at most."""
        return self.blocks_for(length) * self.bytes_per_block

    def blocks(self, available: float) -> int:
        """Blocks that `available` bytes give."""
        return max(0, int(available)) // self.bytes_per_block

    def concurrency(self, available: float, length: int) -> float:
        """Requests of `length` tokens that `available` bytes hold, as the engine prints it."""
        return self.blocks(available) / self.blocks_for(length)

    def fits(self, available: float, length: int) -> bool:
        """Whether one request of `length` tokens fits beside the null block: the engine's check."""
        return self.request_bytes(length) <= available - self.bytes_per_block

    def longest(self, available: float, limit: int) -> int:
        """The longest request, up to `limit` tokens, that fits; 0 when none does."""
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.fits(available, middle) else (low, middle - 1)
        return low


def pool(found: Sequence[CacheLayers], *, in_flight: int, states: int, widening: float) -> Pool:
    """Organise the layers of one rank.

    `widening` is how far the largest bucket may exceed the smallest for groups to take the larger size.
    """
    if len({(layers.reach, layers.span, layers.block) for layers in found}) == 1:
        width = sum(layers.layers * layers.page for layers in found)
        return Pool(
            groups=(Group(layers=found[0], groups=1),),
            bytes_per_block=width,
            in_flight=in_flight,
            states=states,
        )
    if any(layers.packed for layers in found):
        return _packed(found, in_flight=in_flight, states=states)
    unified = _unified_pages(found)
    counts = [layers.layers for layers in unified]
    size = max(counts) if max(counts) < widening * min(counts) else min(counts)
    return Pool(
        groups=tuple(Group(layers=layers, groups=-(-layers.layers // size)) for layers in unified),
        bytes_per_block=size * unified[0].page,
        in_flight=in_flight,
        states=states,
    )


def _unified_pages(found: Sequence[CacheLayers]) -> list[CacheLayers]:
    """All pages made the size of the largest: by more tokens a block where that divides, else by padding."""
    largest = max(layers.page for layers in found)
    unified = []
    for layers in found:
        if layers.reach != "state" and largest % layers.page == 0:
            unified.append(replace(layers, block=layers.block * (largest // layers.page)))
        else:
            unified.append(replace(layers, padded=largest))
    return unified


def _packed(found: Sequence[CacheLayers], *, in_flight: int, states: int) -> Pool:
    """Pages of different sizes side by side: buckets of layers that need the same blocks, cut into like groups.

    Source: vLLM 0.33.0, vllm/v1/core/kv_cache_planning.py, _get_packed_kv_cache_groups.
    """
    buckets: dict[tuple[str, int, int], Counter[int]] = {}
    first: dict[tuple[str, int, int], CacheLayers] = {}
    for layers in found:
        key = (layers.reach, layers.span, layers.block)
        buckets.setdefault(key, Counter())[layers.page] += layers.layers
        first.setdefault(key, layers)
    balanced = {key for key, pages in buckets.items() if len(set(pages.values())) == 1}
    repeats = {key: max(pages.values()) for key, pages in buckets.items()}
    floor = max((repeats[key] for key in balanced if len(buckets[key]) > 1), default=0)
    size = _least_padding([repeats[key] for key in balanced], floor) if floor else 0
    counts = {key: -(-repeats[key] // size) if size and key in balanced else 1 for key in buckets}
    width = max(
        sum(-(-layers // counts[key]) * page for page, layers in pages.items()) for key, pages in buckets.items()
    )
    return Pool(
        groups=tuple(Group(layers=first[key], groups=counts[key]) for key in buckets),
        bytes_per_block=width,
        in_flight=in_flight,
        states=states,
    )


def _least_padding(counts: Sequence[int], floor: int) -> int:
    """The group size from `floor` on to which the counts round up with the least padding; the largest such."""
    sizes = range(floor, max(*counts, floor) + 1)
    return min(sizes, key=lambda size: (sum(-count % size for count in counts), -size))
