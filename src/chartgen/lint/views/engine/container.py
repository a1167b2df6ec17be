"""Containers as engines see them: the environment, the files that are mounted, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import mapping, mappings
from chartgen.lint.relations import Relations
from chartgen.lint.workloads import PodSite

_OF_GROUPS: Final = ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX")
"""What LeaderWorkerSet's controller puts before a container's own variables (kubernetes-sigs/lws, docs/reference)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Container:
    """One container of a pod."""

    site: PodSite
    """The pod it stands in."""
    path: tuple[Step, ...]
    """Its path, from the object's root."""
    value: dict[str, Any]
    """The container, as plain data."""

    @property
    def name(self) -> str:
        """The container's name."""
        return str(self.value.get("name") or "engine")

    def word(self, of: str, index: int) -> tuple[Step, ...]:
        """Where a word of `command` or `args` stands."""
        return (*self.path, *(self.site.args_at if of == "args" else (of,)), index)

    @property
    def is_model(self) -> bool:
        """Whether it is the `model` of a KServe predictor, whose runtime says how it is started."""
        return self.path[-1:] == ("model",)

    @property
    def resources(self) -> dict[str, Any]:
        """Its requests and limits."""
        return mapping(self.value.get("resources"))


def containers(site: PodSite) -> Iterator[Container]:
    """The containers of a pod that run beside each other: ordinary ones, sidecars, and KServe's model."""
    for index, value in enumerate(mappings(site.spec.get("containers"))):
        path = (*site.path, "containers", index) if site.container_at is None else site.container_at
        yield Container(site=site, path=path, value=value)
    for index, value in enumerate(mappings(site.spec.get("initContainers"))):
        if value.get("restartPolicy") == "Always":
            yield Container(site=site, path=(*site.path, "initContainers", index), value=value)
    model = site.spec.get("model")
    if isinstance(model, dict) and site.shape.operated:
        yield Container(site=site, path=(*site.path, "model"), value=model)


def declared_ports(container: Container) -> tuple[int, ...]:
    """The ports that a container names."""
    ports = [port.get("containerPort") for port in mappings(container.value.get("ports"))]
    return tuple(port for port in ports if isinstance(port, int))


def environment(container: Container, relations: Relations) -> dict[str, str | None]:
    """The variables of a container; None for a value that the files do not tell."""
    found: dict[str, str | None] = {}
    if container.site.manifest.kind == "LeaderWorkerSet":
        found = dict.fromkeys(_OF_GROUPS)
    for source in mappings(container.value.get("envFrom")):
        prefix = str(source.get("prefix") or "")
        data = _config_map(mapping(source.get("configMapRef")).get("name"), container, relations)
        found |= {prefix + key: str(value) for key, value in data.items()}
    for entry in mappings(container.value.get("env")):
        name, value = str(entry.get("name")), entry.get("value")
        reference = mapping(mapping(entry.get("valueFrom")).get("configMapKeyRef"))
        if isinstance(value, str):
            found[name] = value
        elif reference:
            content = _config_map(reference.get("name"), container, relations).get(str(reference.get("key")))
            found[name] = content if isinstance(content, str) else None
        else:
            found[name] = None if "valueFrom" in entry else ""
    return found


def mounted_files(container: Container, relations: Relations) -> dict[str, str]:
    """The text of files that come from ConfigMaps of the bundle, by path in the container."""
    volumes = {str(volume.get("name")): volume for volume in mappings(container.site.spec.get("volumes"))}
    found: dict[str, str] = {}
    for mount in mappings(container.value.get("volumeMounts")):
        source = mapping(volumes.get(str(mount.get("name")), {}).get("configMap"))
        data = _config_map(source.get("name"), container, relations)
        names = {str(item.get("key")): str(item.get("path")) for item in mappings(source.get("items"))}
        path, part = str(mount.get("mountPath")).rstrip("/"), mount.get("subPath")
        for key, text in data.items():
            name = names.get(key, key)
            if part is None:
                found[f"{path}/{name}"] = str(text)
            elif part == name:
                found[path] = str(text)
    return found


def _config_map(name: Any, container: Container, relations: Relations) -> Mapping[str, Any]:
    if not isinstance(name, str):
        return {}
    found = relations.find("ConfigMap", name, container.site.manifest.namespace)
    return mapping(found.value.get("data")) if found else {}
