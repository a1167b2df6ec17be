"""House numbers: what no fact gives, each with its unit, its reason and its source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Decision, assumed
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One house number."""

    value: float
    """The number."""
    unit: str
    """Its unit."""
    because: str
    """Why this number, as the end of a sentence."""
    source: str
    """Where it comes from; "assumption" where it is only that."""


@cache
def assumptions() -> Mapping[str, Assumption]:
    """All house numbers by name."""
    found = document(catalog_data() / "assumptions.yaml")
    return build(found.value, dict[str, Assumption])


def assumption(name: str) -> Assumption:
    """The house number `name`; an unknown name is our mistake and raises KeyError."""
    return assumptions()[name]


def number(name: str) -> float:
    """The value of the house number `name`."""
    return assumption(name).value


def whole(name: str) -> int:
    """The value of the house number `name`, which is a whole number."""
    return int(assumption(name).value)


def house(name: str) -> Decision[int]:
    """The house number `name`, a whole number, as a decision of its own."""
    found = assumption(name)
    return assumed(int(found.value), sentence(found.because))


def sentence(text: str) -> str:
    """A reason with a capital first letter."""
    return text[:1].upper() + text[1:]
