"""House numbers of placement and of the way in: dead times and margins that no arithmetic gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from chartgen.catalog.store import document
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number with its unit, its reason and what it stands on."""

    value: int
    """The number."""
    unit: str
    """What it counts."""
    because: str
    """Why this number."""
    source: str
    """Where it was read, or the word assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementFigures:
    """All of them."""

    progress_deadline: Figure
    """The least progress deadline of a Deployment."""
    node_arrival: Figure
    """What a new node and the image may take before the engine starts to load."""
    min_ready: Figure
    """How long a new pod must stay ready before the rollout goes on."""
    packing_weight: Figure
    """Weight of the preference to share a node."""
    node_cores: Figure
    """CPUs that stay with the node."""
    node_memory_mib: Figure
    """Memory that stays with the node."""
    keep_alive_margin: Figure
    """How much longer than the proxy the engine keeps an idle connection."""


@cache
def placement_figures() -> PlacementFigures:
    """The figures of `data/placement.yaml`."""
    return build(document(catalog_data() / "placement.yaml").value, PlacementFigures)
