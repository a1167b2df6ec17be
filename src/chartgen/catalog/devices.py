"""Devices: under which names each vendor's device plugin and DRA driver offer cards and slices of cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache

from chartgen.catalog.gpus import Vendor
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """The names of one vendor's devices."""

    resource: str
    """Extended resource of a whole card, which is also the usual key of the taint on GPU nodes."""
    slice_resource: str | None = None
    """Extended resource of a slice in the mixed strategy; {profile} is filled in. None: cards are not sliced so."""
    shared_resource: str | None = None
    """Extended resource of a time-sliced card where the plugin is told to rename it."""
    device_class: str
    """DeviceClass of a whole card."""
    slice_class: str | None = None
    """DeviceClass of a slice."""
    domain: str
    """The driver's domain, which qualifies attributes and capacities in CEL."""
    profile_attribute: str | None = None
    """Attribute that holds a slice's profile."""
    architecture_attribute: str | None = None
    """Attribute that holds the card's generation."""
    architectures: Mapping[str, str] = field(default_factory=dict)
    """The catalog's name of a generation to the driver's."""
    memory_capacity: str
    """Capacity that holds the usable memory."""
    driver: str
    """The DRA driver that was read."""
    needs: str
    """What the cluster needs for claims to be filled."""
    notes: tuple[str, ...] = ()
    """What every user of these devices must know."""
    source: tuple[str, ...]
    """Where the names stand."""

    def slice_name(self, profile: str) -> str:
        """The extended resource of a MIG profile: a plus sign in the profile is written as a dot.

        Raises:
            ValueError: the vendor's cards are not sliced.
        """
        if self.slice_resource is None:
            raise ValueError(profile)
        return self.slice_resource.format(profile=profile.replace("+", "."))


@cache
def _all() -> Mapping[Vendor, Devices]:
    return build(document(catalog_data() / "devices.yaml").value, dict[Vendor, Devices])


def devices(vendor: Vendor) -> Devices:
    """The names of one vendor's devices."""
    return _all()[vendor]
