"""What an engine gets of its node besides GPUs: CPU, memory, /dev/shm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.lint.functions import is_quantity, quantity
from chartgen.lint.manifest import at, mapping, mappings
from chartgen.lint.unknown import Maybe
from chartgen.lint.views.engine.container import Container
from chartgen.lint.views.volumes import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """What is mounted at /dev/shm."""

    kind: Literal["default", "memory", "disk", "host"]
    """default: the runtime's 64 MiB. memory: an emptyDir in memory. host: the node's own. disk: anything else."""
    size: Maybe[int | None]
    """Its size limit in bytes; null for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostView:
    """An engine's share of its node."""

    cpu_request: float | None
    """CPUs asked for; a limit without a request counts, as it does for Kubernetes. Null for none."""
    cpu_limit: float | None
    """CPUs at most; null for no limit."""
    memory_request: int | None
    """Bytes asked for; a limit without a request counts. Null for none."""
    memory_limit: int | None
    """Bytes at most; null for no limit."""
    disk_limit: int | None
    """Ephemeral storage at most, in bytes; null for no limit."""
    shared_memory: SharedMemory
    """What is mounted at /dev/shm."""
    memory_volumes: int
    """Bytes that volumes in memory may take of the memory limit, as far as they have a size."""


def host_view(container: Container, volumes: Iterable[Volume]) -> HostView:
    """What a container gets of its node."""
    limits, requests = mapping(container.resources.get("limits")), mapping(container.resources.get("requests"))
    by_name = {volume.name: volume for volume in volumes}
    pod_level = mapping(container.site.spec.get("resources"))
    memory_limit = _amount(limits, "memory") or _amount(mapping(pod_level.get("limits")), "memory")
    memory_request = (
        _amount(requests, "memory") or memory_limit or _amount(mapping(pod_level.get("requests")), "memory")
    )
    cpu_limit = _amount(limits, "cpu") or _amount(mapping(pod_level.get("limits")), "cpu")
    cpu_request = _amount(requests, "cpu") or cpu_limit or _amount(mapping(pod_level.get("requests")), "cpu")
    disk = _amount(limits, "ephemeral-storage")
    mounted = [by_name.get(str(mount.get("name"))) for mount in mappings(container.value.get("volumeMounts"))]
    in_memory = [volume.size for volume in mounted if volume and volume.memory]
    return HostView(
        cpu_request=cpu_request,
        cpu_limit=cpu_limit,
        memory_request=int(memory_request) if memory_request else None,
        memory_limit=int(memory_limit) if memory_limit else None,
        disk_limit=int(disk) if disk else None,
        shared_memory=_shared_memory(container, by_name),
        memory_volumes=sum(size for size in in_memory if isinstance(size, int)),
    )


def _amount(resources: Mapping[str, Any], name: str) -> float | None:
    value = resources.get(name)
    return quantity(str(value)) if value is not None and is_quantity(str(value)) else None


def _shared_memory(container: Container, volumes: Mapping[str, Volume]) -> SharedMemory:
    if container.site.spec.get("hostIPC") is True:
        return SharedMemory(kind="host", size=None)
    for mount in mappings(container.value.get("volumeMounts")):
        if str(mount.get("mountPath")).rstrip("/") == "/dev/shm":  # noqa: S108 - the path that is looked for
            volume = volumes.get(str(mount.get("name")))
            if volume is None:
                break
            host = volume.kind == "hostPath" and _host_path(container, volume) == "/dev/shm"  # noqa: S108
            kind: Literal["memory", "disk", "host"] = "memory" if volume.memory else "host" if host else "disk"
            return SharedMemory(kind=kind, size=volume.size)
    return SharedMemory(kind="default", size=None)


def _host_path(container: Container, volume: Volume) -> str:
    source = at(container.site.manifest.value, (*volume.at, "hostPath", "path"))
    return str(source).rstrip("/")
