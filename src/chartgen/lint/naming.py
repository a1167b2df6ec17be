"""The names that a pod's spec needs: ConfigMaps, Secrets, claims, accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import mapping, mappings
from chartgen.lint.workloads import PodSite

Named = tuple[str, Any, bool, tuple[Step, ...]]
"""Kind, name, whether the pod starts without it, and where the name stands in the pod's spec."""


def named_in(site: PodSite) -> Iterator[Named]:
    """Every name that a pod's spec needs; the name is None where there is none."""
    spec = site.spec
    yield "ServiceAccount", spec.get("serviceAccountName"), False, ("serviceAccountName",)
    for index, secret in enumerate(mappings(spec.get("imagePullSecrets"))):
        yield "Secret", secret.get("name"), True, ("imagePullSecrets", index, "name")
    for index, volume in enumerate(mappings(spec.get("volumes"))):
        for kind, name, optional, path in _volume(volume):
            yield kind, name, optional, ("volumes", index, *path)
    for group in ("initContainers", "containers"):
        for index, container in enumerate(mappings(spec.get(group))):
            for kind, name, optional, path in _container(container):
                yield kind, name, optional, (group, index, *path)


def _volume(volume: dict[str, Any]) -> Iterator[Named]:
    claim = mapping(volume.get("persistentVolumeClaim"))
    yield "PersistentVolumeClaim", claim.get("claimName"), False, ("persistentVolumeClaim", "claimName")
    yield _source("ConfigMap", volume, "configMap", "name", ())
    yield _source("Secret", volume, "secret", "secretName", ())
    for index, source in enumerate(mappings(mapping(volume.get("projected")).get("sources"))):
        yield _source("ConfigMap", source, "configMap", "name", ("projected", "sources", index))
        yield _source("Secret", source, "secret", "name", ("projected", "sources", index))


def _container(container: dict[str, Any]) -> Iterator[Named]:
    for index, entry in enumerate(mappings(container.get("env"))):
        source = mapping(entry.get("valueFrom"))
        yield _source("ConfigMap", source, "configMapKeyRef", "name", ("env", index, "valueFrom"))
        yield _source("Secret", source, "secretKeyRef", "name", ("env", index, "valueFrom"))
    for index, entry in enumerate(mappings(container.get("envFrom"))):
        yield _source("ConfigMap", entry, "configMapRef", "name", ("envFrom", index))
        yield _source("Secret", entry, "secretRef", "name", ("envFrom", index))


def _source(kind: str, holder: dict[str, Any], key: str, name: str, path: tuple[Step, ...]) -> Named:
    source = mapping(holder.get(key))
    return kind, source.get(name), source.get("optional") is True, (*path, key, name)
