"""Element types of the KV cache: how many bytes keys and values take."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build


@dataclass(frozen=True, slots=True, kw_only=True)
class KvDtype:
    """One value of the engine's `--kv-cache-dtype`."""

    bits: float | None
    """Bits of one element; None: those of the model's dtype."""
    scale_bytes: int = 0
    """Bytes of the scales that one head keeps for one token (keys and values together)."""
    group: int | None = None
    """Elements that share one fp8 scale, where the type has such blocks."""
    latent_token_bytes: int | None = None
    """Bytes of one token of one layer of latent attention, where the type fixes a layout for it."""
    latent_only: bool = False
    """The type is for latent attention only."""
    same_as: tuple[str, ...] = ()
    """Other values that mean the same."""
    since: str = "0.6.0"
    """First release of the engine that knows it."""
    nvidia: str | None = None
    """Least compute capability on NVIDIA; None for any that the engine runs on."""
    source: str
    """Where the facts were read."""
    key: str = ""
    """The value; filled by the loader."""

    def cell_bytes(self, width: int, model_bytes: int) -> float:
        """Bytes of `width` elements of one head for one token, with their scales."""
        if self.bits is None:
            return width * model_bytes
        blocks = width / self.group if self.group else 0
        return width * self.bits / 8 + blocks + self.scale_bytes


@cache
def kv_dtypes() -> Mapping[str, KvDtype]:
    """Every element type by its name."""
    data = document(catalog_data() / "kv_dtypes.yaml").value
    return {key: build({**entry, "key": key}, KvDtype) for key, entry in data.items()}


def kv_dtype(name: str) -> KvDtype:
    """The element type that a value of `--kv-cache-dtype` means.

    Raises:
        UnknownName: no element type has that name.
    """
    known = kv_dtypes()
    for dtype in known.values():
        if name == dtype.key or name in dtype.same_as:
            return dtype
    raise UnknownName("KV cache dtype", name, known)
