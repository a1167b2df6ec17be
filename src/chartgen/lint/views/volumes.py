"""A pod's volumes, with the claims behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.functions import is_quantity, quantity
from chartgen.lint.manifest import at, mapping, mappings
from chartgen.lint.relations import Relations
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.lint.workloads import PodSite


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume of a pod."""

    name: str
    """Its name in the pod."""
    kind: str
    """emptyDir, persistentVolumeClaim, hostPath, image, configMap, …: the key of its source."""
    memory: bool
    """Whether it is held in memory: an emptyDir with medium Memory."""
    size: Maybe[int | None]
    """Its size limit or its claim's request in bytes; null when none is set."""
    access: Maybe[tuple[str, ...]]
    """The access modes of its claim; empty when it has no claim."""
    lasts: bool
    """Whether its files outlive the pod: a claim, a host path, an image."""
    at: tuple[Step, ...]
    """Its path in the object."""


def volumes(site: PodSite, relations: Relations) -> tuple[Volume, ...]:
    """Every volume of a pod; the claim templates of a StatefulSet are volumes too."""
    return (*_own(site, relations), *_templates(site))


def _own(site: PodSite, relations: Relations) -> Iterator[Volume]:
    for index, volume in enumerate(mappings(site.spec.get("volumes"))):
        kind = next((key for key in volume if key != "name"), "")
        source = mapping(volume.get(kind))
        size: Maybe[int | None] = _bytes(source.get("sizeLimit"))
        access: Maybe[tuple[str, ...]] = ()
        if kind == "persistentVolumeClaim":
            size, access = _claim(str(source.get("claimName")), site, relations)
        elif kind == "ephemeral":
            size, access = _spec(mapping(at(source, ("volumeClaimTemplate", "spec"))))
        yield Volume(
            name=str(volume.get("name")),
            kind=kind,
            memory=kind == "emptyDir" and source.get("medium") == "Memory",
            size=size,
            access=access,
            lasts=kind in {"persistentVolumeClaim", "hostPath", "image", "nfs", "csi"},
            at=(*site.path, "volumes", index),
        )


def _templates(site: PodSite) -> Iterator[Volume]:
    for where in (("spec", "volumeClaimTemplates"), ("spec", "leaderWorkerTemplate", "volumeClaimTemplates")):
        for index, template in enumerate(mappings(at(site.manifest.value, where))):
            size, access = _spec(mapping(template.get("spec")))
            yield Volume(
                name=str(mapping(template.get("metadata")).get("name")),
                kind="volumeClaimTemplate",
                memory=False,
                size=size,
                access=access,
                lasts=True,
                at=(*where, index),
            )


def _claim(name: str, site: PodSite, relations: Relations) -> tuple[Maybe[int | None], Maybe[tuple[str, ...]]]:
    claim = relations.find("PersistentVolumeClaim", name, site.manifest.namespace)
    if claim is None:
        unknown = Unknown(
            because=f"the claim {name} is not among the files", run=f"kubectl get persistentvolumeclaim {name} -o yaml"
        )
        return unknown, unknown
    return _spec(mapping(claim.value.get("spec")))


def _spec(spec: Mapping[str, Any]) -> tuple[int | None, tuple[str, ...]]:
    modes = spec.get("accessModes")
    access = tuple(map(str, modes)) if isinstance(modes, list) else ()
    return _bytes(at(spec, ("resources", "requests", "storage"))), access


def _bytes(value: Any) -> int | None:
    text = str(value)
    return int(quantity(text)) if value is not None and is_quantity(text) else None
