"""Gateways: ingress controllers and Gateway API implementations, one dialect file each in `data/gateways`."""

from __future__ import annotations

from functools import cache

from chartgen.catalog.gateway_dialect import Gateway
from chartgen.catalog.gateway_words import ExtraObject, StreamIntent, StreamSettings, spell
from chartgen.catalog.store import document
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build

__all__ = [
    "ExtraObject",
    "Gateway",
    "StreamIntent",
    "StreamSettings",
    "gateway_names",
    "load_gateway",
    "spell",
]


def gateway_names() -> tuple[str, ...]:
    """The keys of all gateways, sorted."""
    return tuple(sorted(path.stem for path in (catalog_data() / "gateways").glob("*.yaml")))


@cache
def load_gateway(name: str) -> Gateway:
    """Load one gateway.

    Raises:
        UnknownName: the catalog has no such gateway.
    """
    if name not in gateway_names():
        raise UnknownName("gateway", name, gateway_names())
    facts = document(catalog_data() / "gateways" / f"{name}.yaml").value
    return build({**facts, "key": name}, Gateway)
