"""The cache of compressed attention: a window, compressed entries, an index, and what compressors still hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from chartgen.catalog.model_attention import CompressedAttention
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.memory.cache_layers import CacheChoice, CacheLayers, Reach, layers_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedLayout:
    """How the engine lays the cache out; each field is told in `compressed_cache.yaml`."""

    entry_bytes: int
    """Bytes of one window token or compressed entry."""
    index_bytes: int
    """Bytes of one entry of the indexer."""
    alignment: int
    """Multiple that pages are padded to."""
    window: int
    """Tokens that every layer keeps in full."""
    window_block: int
    """Tokens of a block of the window."""
    block: int
    """Tokens of a block of compressed entries."""
    width: int
    """Elements of an entry before quantization."""
    index_width: int
    """Elements of an index entry before quantization."""
    state_bytes: int
    """Bytes of an element of a compressor's state."""
    overlapping: int
    """The ratio whose entries overlap."""
    state_block: Mapping[int, int]
    """Tokens of a block of compressor states, by ratio."""
    source: str
    """Where it was read."""

    def page(self, size: int) -> int:
        """A page of `size` bytes, padded."""
        return -(-size // self.alignment) * self.alignment


@cache
def layout() -> CompressedLayout:
    """The layout as the catalog states it."""
    data = document(catalog_data() / "compressed_cache.yaml").value
    blocks = {int(ratio): tokens for ratio, tokens in data["state_block"].items()}
    return build({**data, "state_block": blocks}, CompressedLayout)


@layers_of.register
def _compressed(kind: CompressedAttention, count: int, choice: CacheChoice) -> Iterator[CacheLayers]:
    del choice
    known = layout()

    def layers(reach: Reach, page: int, block: int, span: int = 0) -> CacheLayers:
        padded = known.page(page)
        return CacheLayers(
            reach=reach,
            layers=count,
            token_bytes=page / block,
            block=block,
            span=span,
            padded=padded,
            packed=True,
        )

    yield layers("window", known.window_block * known.entry_bytes, known.window_block, known.window)
    if not kind.ratio:
        return
    overlaps = kind.ratio == known.overlapping
    entries = known.block // kind.ratio
    vectors = 2 if overlaps else 1
    block = known.state_block[kind.ratio]
    kept = vectors * kind.ratio
    yield layers("full", entries * known.entry_bytes, known.block)
    yield layers("window", block * 2 * vectors * known.width * known.state_bytes, block, kept)
    if overlaps:
        yield layers("full", entries * known.index_bytes, known.block)
        yield layers("window", block * 2 * vectors * known.index_width * known.state_bytes, block, kept)
