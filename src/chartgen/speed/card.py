"""What one rank of a card offers: bandwidth, compute by format, the link to its peers, at the engine's efficiency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from chartgen.catalog.gpus import Gpu, Number
from chartgen.catalog.quantizations import Quantization
from chartgen.kernel.dataclass import dataclass
from chartgen.speed.efficiencies import Compute, Rates, SpeedFacts

GIGA: Final = 1e9
TERA: Final = 1e12
MICRO: Final = 1e-6

_FORMAT: Final[Mapping[str, Compute]] = {"fp8": "fp8", "mxfp8": "fp8", "int8": "int8", "fp4": "fp4"}
"""By what activations are rounded to: how the product is computed where the card can."""
_PEAK: Final[Mapping[Compute, tuple[Number, ...]]] = {
    "16-bit": ("bfloat16", "float16"),
    "fp8": ("fp8",),
    "int8": ("int8",),
    "fp4": ("nvfp4", "mxfp4"),
    "weight-only": ("bfloat16", "float16"),
}
"""The number formats of the data sheet that give the peak, the first that the card states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One rank at the engine's efficiency, in bytes, operations and seconds."""

    weights: float
    """Bytes of weights read a second."""
    cache: float
    """Bytes of cache read a second."""
    memory: float
    """Bytes moved a second by the data sheet."""
    plain: float
    """Operations a second on plain weights."""
    products: Mapping[str, float]
    """Operations a second on quantized weights, by scheme."""
    attention: float
    """Operations a second in attention over a prompt."""
    link: float
    """Bytes a second of an all-reduce, in and out together."""
    latency: float
    """Seconds of an all-reduce for each doubling of ranks."""
    compute: frozenset[Compute]
    """How its products are computed."""
    carrier: str
    """What carries messages: nvlink, xgmi, pcie, ethernet."""


def compute_of(gpu: Gpu, scheme: Quantization, facts: SpeedFacts) -> Compute:
    """How products with the scheme's weights are computed on this card."""
    wanted = _FORMAT.get(scheme.activations)
    for native in facts.native:
        if native.scheme == scheme.key and gpu.compute_capability in native.capability:
            wanted = native.compute
    if wanted is not None and any(number in gpu.dtypes for number in _PEAK[wanted]):
        return wanted
    return "weight-only"


def _peak(gpu: Gpu, compute: Compute) -> float:
    stated = [gpu.teraflops[number] for number in _PEAK[compute] if number in gpu.teraflops]
    return (stated or [gpu.teraflops["float32"]])[0] * TERA


def _share(compute: Compute, rates: Rates) -> float:
    if compute == "fp4":
        return rates.compute_fp4
    return rates.compute_weight_only if compute == "weight-only" else rates.compute


def carrier_of(gpu: Gpu, ranks: int) -> str:
    """What carries messages among so many ranks: a bridge joins only as many cards as it has places for."""
    link = gpu.interconnect
    if link is None or (link.bridge_of is not None and ranks > link.bridge_of):
        return "pcie"
    return link.kind


def card_of(
    gpu: Gpu,
    schemes: Iterable[Quantization],
    ranks: int,
    rates: Rates,
    facts: SpeedFacts,
    mig: str | None = None,
) -> Card:
    """One rank of `ranks` on this card, or on a slice of it, for weights stored in these schemes."""
    memory_share, compute_share = _slice(gpu, mig)
    memory = gpu.bandwidth_gb_per_second * GIGA * memory_share
    plain = _peak(gpu, "16-bit") * compute_share
    by_scheme = {scheme.key: compute_of(gpu, scheme, facts) for scheme in schemes}
    carrier = carrier_of(gpu, ranks)
    stated = gpu.interconnect.gb_per_second if gpu.interconnect and gpu.interconnect.kind == carrier else None
    switched = carrier in {"nvlink", "xgmi"}
    reached = rates.switch_bandwidth if switched else rates.bus_bandwidth
    return Card(
        weights=memory * rates.weight_bandwidth,
        cache=memory * rates.cache_bandwidth,
        memory=memory,
        plain=plain * rates.compute,
        products={
            key: _peak(gpu, compute) * compute_share * _share(compute, rates) for key, compute in by_scheme.items()
        },
        attention=plain * rates.compute_attention,
        link=(stated or facts.bus_gb_per_second) * GIGA * reached,
        latency=(rates.switch_latency if switched else rates.bus_latency) * MICRO,
        compute=frozenset(by_scheme.values()) or frozenset({"16-bit"}),
        carrier=carrier,
    )


def _slice(gpu: Gpu, mig: str | None) -> tuple[float, float]:
    """Shares of memory bandwidth and of compute that a slice has: its memory, and its compute units."""
    if mig is None:
        return 1.0, 1.0
    profile = gpu.mig[mig]
    units = max(each.compute_units for each in gpu.mig.values())
    return profile.mib / gpu.visible.best, profile.compute_units / units
