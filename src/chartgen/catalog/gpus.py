"""GPUs: what a card has, how drivers, clouds and node labels name it, and how it can be sliced.

One file per card and form factor in `data/gpus`. Memory is what the runtime of the card's vendor reports to a
process, not what the label says: a 24 GB L4 shows about 22 GiB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final, Literal

from chartgen.catalog.store import Store
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.units import MIB, Bytes

Vendor = Literal["nvidia", "amd", "intel"]
Number = Literal["float32", "tf32", "float16", "bfloat16", "int8", "fp8", "mxfp4", "nvfp4", "int4"]
"""Number formats that a card computes in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """Memory that a process sees on the card, in MiB; low and high where cards of the type differ."""

    best: float
    """The usual figure."""
    low: float | None = None
    """The least seen; None: as best."""
    high: float | None = None
    """The most seen; None: as best."""
    source: str = ""
    """Who printed or published it; "assumed" figures say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interconnect:
    """How the GPUs of one node talk to each other."""

    kind: Literal["nvlink", "pcie", "xgmi", "ethernet"]
    """What carries it."""
    gb_per_second: float
    """Bandwidth of one GPU to its peers, both directions together, as the vendor states it, in GB/s."""
    generation: str = ""
    """Generation as the vendor counts: 4 for NVLink of H100, 5 for PCIe."""
    bridge_of: int | None = None
    """GPUs that one bridge joins (2 for an H100 NVL pair); None when all of a node are joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigProfile:
    """One slice size of a card (multi-instance GPU)."""

    count: int
    """Slices of this size that one card gives."""
    mib: float
    """Memory of a slice that a process sees, in MiB."""
    compute_units: int
    """Compute units of a slice: the number before the g in its name."""
    assumed: bool = False
    """The memory was not read from a card but follows from its eighths, rounded down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One card in one form factor."""

    title: str
    """What people call it: NVIDIA H100 SXM 80 GB."""
    vendor: Vendor
    """Who makes it."""
    architecture: str
    """The vendor's name of the generation, lower case: hopper, ada, cdna3."""
    nominal_gb: int
    """Memory as the label says, in GB."""
    visible: Visible
    """Memory as a process sees it."""
    bandwidth_gb_per_second: float
    """Memory bandwidth, in GB/s."""
    teraflops: Mapping[Number, float] = field(hash=False)
    """Dense compute by number format, without sparsity, in 10^12 operations a second."""
    source: str
    """Where the facts were read, as public addresses."""
    checked: str
    """The day they were read, as 2026-11-30."""
    aliases: tuple[str, ...] = ()
    """Names in drivers, node labels, clouds and mouths."""
    compute_capability: str | None = None
    """NVIDIA's compute capability (9.0), or AMD's target (gfx942)."""
    multiprocessors: int = 0
    """Streaming multiprocessors, or compute units."""
    dtypes: tuple[Number, ...] = ()
    """Formats that the engine's kernels can use natively on it."""
    interconnect: Interconnect | None = None
    """How it reaches its peers in a node; None where it has none but the host."""
    per_node: tuple[int, ...] = (1, 2, 4, 8)
    """GPU counts of usual nodes."""
    watts: int | None = None
    """Power limit, in watts."""
    unified_memory: bool = False
    """The memory is shared with the host's processor (GB10)."""
    mig: Mapping[str, MigProfile] = field(default_factory=dict, hash=False)
    """Slices by profile name, such as 3g.40gb; empty for a card that cannot be sliced."""
    notes: str = ""
    """What a reader should know about these facts."""
    key: str = ""
    """File name without `.yaml`; filled by the loader."""
    origin: str = "catalog"
    """"catalog", or the file of the user that states these facts; filled by the loader."""

    @property
    def capability(self) -> tuple[int, int]:
        """NVIDIA's compute capability as two numbers; (0, 0) for other vendors."""
        if self.vendor != "nvidia" or not self.compute_capability:
            return (0, 0)
        major, _, minor = self.compute_capability.partition(".")
        return (int(major), int(minor))

    def visible_bytes(self, which: Literal["low", "best", "high"] = "best") -> Bytes:
        """Memory a process sees on the whole card, in bytes."""
        amounts = {"low": self.visible.low, "best": self.visible.best, "high": self.visible.high}
        return Bytes(int((amounts[which] or self.visible.best) * MIB))


HOPPER: Final = (9, 0)
"""Compute capability of the Hopper generation."""
BLACKWELL: Final = (10, 0)
"""Compute capability of the Blackwell data-centre generation."""

_STORE: Final = Store("GPU", "gpus", Gpu)


def gpu(name: str) -> Gpu:
    """The card that `name` stands for: a key, a driver's or node label's name, a spoken name.

    Raises:
        UnknownName: no card has that name; carries the nearest that one has.
    """
    return _STORE.get(name)


def gpus() -> list[Gpu]:
    """Every card of the catalog and of the user's folders, in the order of keys."""
    return list(_STORE.all())


def add_folder(path: Path) -> list[str]:
    """Add a user's `gpus` folder below `path`; return the keys of ours that it overrides."""
    return _STORE.add(path)
