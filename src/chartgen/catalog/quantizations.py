"""Quantization schemes: bytes of a weight, what stays plain, which cards and releases can run it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from chartgen.catalog.models import Part
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """One scheme by which weights are stored."""

    title: str
    """What people call it."""
    bits: float
    """Bits of one weight element."""
    group: int | None = None
    """Weights along a row that share one scale; None for one scale a channel or tensor."""
    square: bool = False
    """The group is a square block of the matrix rather than a run of a row."""
    padded: bool = False
    """The kernel pads what a rank holds, so that a split never cuts a group."""
    scale_bits: int = 0
    """Bits of one scale."""
    zero_bits: int = 0
    """Bits of one zero point; 0 for symmetric schemes."""
    kept: tuple[Part, ...] = ()
    """Parts that the scheme always leaves in the model's dtype."""
    margin: float = 0
    """Share by which copies of one model differ, for what their makers leave plain or how they group."""
    activations: Literal["16-bit", "fp8", "int8", "mxfp8", "fp4"] = "16-bit"
    """What the activations are rounded to before a product: decides the compute that counts."""
    flags: tuple[str, ...] = ()
    """Values of the engine's `--quantization` that mean this scheme, the usual one first."""
    at_load: bool = False
    """The engine can make it from plain weights while loading."""
    nvidia: str | None = None
    """Least compute capability on NVIDIA; None where it cannot run at all."""
    amd: tuple[str, ...] = ()
    """AMD targets that run it."""
    since: str = "0.6.0"
    """First release of the engine that knows it."""
    until: str | None = None
    """Last release of the engine that knows it; None while it is known."""
    because: str = ""
    """What a reader should know."""
    source: str
    """Where the facts were read."""
    key: str = ""
    """Name of the scheme; filled by the loader."""

    @property
    def bytes_per_weight(self) -> float:
        """Bytes of one weight with its share of scales and zero points."""
        shared = (self.scale_bits + self.zero_bits) / self.group if self.group else 0.0
        return (self.bits + shared) / 8


@cache
def quantizations() -> Mapping[str, Quantization]:
    """Every scheme by its name; "none" is plain weights."""
    data = document(catalog_data() / "quantizations.yaml").value
    return {key: build({**entry, "key": key}, Quantization) for key, entry in data.items()}


def quantization(name: str) -> Quantization:
    """The scheme of that name, or the one that a value of the engine's `--quantization` means.

    Raises:
        UnknownName: no scheme has that name.
    """
    known = quantizations()
    asked = name.strip().lower().replace("_", "-")
    for scheme in known.values():
        if asked == scheme.key or asked in {flag.replace("_", "-") for flag in scheme.flags}:
            return scheme
    raise UnknownName("quantization", name, known)
