"""Which card an engine runs on, as the pod's own selectors tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from chartgen.catalog.clouds import cloud_names, load_cloud, machine
from chartgen.catalog.gpus import Gpu, gpu
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.units import MIB
from chartgen.lint.accelerators import PRODUCT, Accelerators
from chartgen.lint.manifest import items
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.workloads import selector_terms

_INSTANCE: Final = frozenset({"node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"})
_SHARED: Final = "-SHARED"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardView:
    """The card behind a pod's accelerators."""

    key: Maybe[str]
    """The card's key in the catalogue: h100-sxm-80gb."""
    product: Maybe[str]
    """The card's name: H100 SXM 80 GB."""
    unit: Maybe[str]
    """What one of what the pod asks for is: H100 SXM 80 GB, or 3g.40gb slice of an A100 SXM 80 GB."""
    bytes: Maybe[int]
    """Bytes that the driver shows for one of what the pod asks for: a whole card or its slice."""
    capability: Maybe[int]
    """CUDA compute capability times ten: 90 for an H100; 0 for a card without one."""
    shared: bool
    """Whether a label says that the card is time-sliced among pods."""


def card_view(spec: Mapping[str, Any], gpus: Accelerators) -> CardView:
    """The card that a pod's selectors and affinity name."""
    shared = gpus.cut == "share" or any(_SHARED in str(value) for _, value in _pairs(spec))
    found = _card(spec)
    if found is None:
        unknown = Unknown(
            because="no selector says which card the pod gets",
            run="kubectl get nodes -L nvidia.com/gpu.product,node.kubernetes.io/instance-type",
        )
        return CardView(key=unknown, product=unknown, unit=unknown, bytes=unknown, capability=unknown, shared=shared)
    unit = found.title
    memory: Maybe[int] = found.visible_bytes("best")
    if gpus.cut == "slice":
        profile = found.mig.get(gpus.profile or "")
        unit = f"{gpus.profile or 'unnamed'} slice of an {found.title}"
        because = f"the slice {gpus.profile} is none of those known for {found.title}"
        memory = int(profile.mib * MIB) if profile else Unknown(because=because, run="nvidia-smi mig -lgip on a node")
    major, minor = found.capability or (0, 0)
    return CardView(
        key=found.key,
        product=found.title,
        unit=unit,
        bytes=memory,
        capability=major * 10 + minor,
        shared=shared,
    )


def _pairs(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for term in selector_terms(dict(spec)):
        if term.get("operator", "In") == "In":
            for value in items(term.get("values")):
                yield str(term.get("key")), value


def _card(spec: Mapping[str, Any]) -> Gpu | None:
    """The one card that all selectors agree on; None when they name none, or several."""
    found: dict[str, Gpu] = {}
    pairs = list(_pairs(spec))
    for key, value in pairs:
        card = _named(key, str(value))
        if card is not None:
            found[card.key] = card
    if not found:
        wanted = {(key, str(value)) for key, value in pairs}
        for terms, name in _cloud_cards():
            if terms and all(any((key, value) in wanted for value in values) for key, values in terms):
                found[name] = gpu(name)
    return next(iter(found.values())) if len(found) == 1 else None


def _named(key: str, value: str) -> Gpu | None:
    if key == PRODUCT:
        name = value.split("-MIG-", maxsplit=1)[0].removesuffix(_SHARED)
    elif key in _INSTANCE:
        shape = machine(value)
        name = shape.gpu if shape else ""
    else:
        return None
    try:
        return gpu(name) if name else None
    except UnknownName:
        return None


@cache
def _cloud_cards() -> tuple[tuple[tuple[tuple[str, tuple[str, ...]], ...], str], ...]:
    """The label terms by which each cloud picks each card."""
    return tuple(
        (tuple((term.key, term.values) for term in terms), card)
        for cloud in cloud_names()
        for card, terms in load_cloud(cloud).card_labels.items()
    )
