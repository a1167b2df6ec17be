"""What a pod names: ConfigMaps, Secrets, claims, accounts, and whether they are there."""

from __future__ import annotations

import difflib

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.naming import named_in
from chartgen.lint.numbers import number
from chartgen.lint.relations import Relations
from chartgen.lint.workloads import PodSite


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A name that a pod needs."""

    kind: str
    """ConfigMap, Secret, PersistentVolumeClaim, ServiceAccount."""
    name: str
    """The name as written."""
    optional: bool
    """Whether the pod starts without it."""
    found: bool
    """Whether it is among the files."""
    near: str | None
    """A name that is there, is very much like it, and is named by nobody."""
    at: tuple[Step, ...]
    """Where the name stands."""


def references(site: PodSite, relations: Relations) -> tuple[Reference, ...]:
    """Every name that a pod needs."""
    found = []
    for kind, name, optional, path in named_in(site):
        if not isinstance(name, str) or not name:
            continue
        target = relations.find(kind, name, site.manifest.namespace)
        found.append(
            Reference(
                kind=kind,
                name=name,
                optional=optional,
                found=target is not None,
                near=None if target else _near(kind, name, site.manifest.namespace, relations),
                at=(*site.path, *path),
            )
        )
    return tuple(found)


def _near(kind: str, name: str, namespace: str, relations: Relations) -> str | None:
    there = {one.name for one in relations.bundle.of_kind(kind, namespace=namespace)}
    unnamed = there - relations.names_used(kind, namespace) if there else there
    close = difflib.get_close_matches(name, sorted(unnamed), n=1, cutoff=number("alike-names"))
    return close[0] if close else None
