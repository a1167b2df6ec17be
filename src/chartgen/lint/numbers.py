"""The linter's numbers, by name: defaults of Kubernetes and its kin, and what manifests are held against."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from chartgen.catalog.assumptions import Assumption
from chartgen.catalog.store import document
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build


@cache
def numbers() -> Mapping[str, Assumption]:
    """All of them."""
    return build(document(catalog_data() / "lint.yaml").value, dict[str, Assumption])


def number(name: str) -> float:
    """The number `name`; an unknown name is our mistake and raises KeyError."""
    return numbers()[name].value


def whole(name: str) -> int:
    """The number `name`, which is a whole number."""
    return int(number(name))
