"""An engine's probes, in seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import items, mapping, mappings
from chartgen.lint.numbers import whole
from chartgen.lint.views.engine.container import Container

_WAITS: Final = re.compile(r"\b(until|while)\b")
_URL: Final = re.compile(r"https?://[^/\s:\"']+(?::(\d+))?(/[^\s\"'?;|&)]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeView:
    """One probe."""

    by: Literal["http", "exec", "tcp", "grpc"]
    """How it asks."""
    path: str | None
    """The path it asks for, without a query; null when it asks for none."""
    port: int | None
    """The port it asks on, names resolved; null when the name is nobody's or it runs a command without a URL."""
    port_name: str | None
    """The port as a name, when it is one."""
    command: str
    """The command it runs; empty for the other kinds."""
    authorized: bool
    """Whether it sends an Authorization header."""
    delay: int
    """Seconds before the first try."""
    period: int
    """Seconds between tries."""
    timeout: int
    """Seconds it waits for an answer; Kubernetes' default is 1."""
    failures: int
    """Failures in a row that count."""
    budget: int
    """Seconds until it gives up for the first time: delay, then period times failures."""
    at: tuple[Step, ...]
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbesView:
    """The probes of an engine; null for one that is not there."""

    startup: ProbeView | None
    """Until it succeeds the others wait."""
    liveness: ProbeView | None
    """When it fails the container is restarted."""
    readiness: ProbeView | None
    """When it fails no requests are sent."""

    all: tuple[ProbeView, ...]
    """Those that are there."""
    held_back: bool
    """Whether a postStart hook waits for the engine: no probe runs before it ends."""


def probes_view(container: Container) -> ProbesView:
    """The probes of a container."""
    startup, liveness, readiness = (_probe(container, f"{name}Probe") for name in ("startup", "liveness", "readiness"))
    everyone = tuple(one for one in (startup, liveness, readiness) if one)
    return ProbesView(
        startup=startup, liveness=liveness, readiness=readiness, all=everyone, held_back=_held_back(container)
    )


def _held_back(container: Container) -> bool:
    hook = mapping(mapping(mapping(container.value.get("lifecycle")).get("postStart")).get("exec"))
    return _WAITS.search(" ".join(map(str, items(hook.get("command"))))) is not None


def _probe(container: Container, key: str) -> ProbeView | None:
    probe = container.value.get(key)
    if not isinstance(probe, dict) or not probe:
        return None
    http, tcp, grpc = (mapping(probe.get(name)) for name in ("httpGet", "tcpSocket", "grpc"))
    command = " ".join(map(str, items(mapping(probe.get("exec")).get("command"))))
    url = _URL.search(command)
    written = (http or tcp or grpc).get("port")
    if not command and not isinstance(written, int | str):
        return None
    port = resolve_port(container.value, written)
    if command:
        port = whole_number(url[1] or "") if url else None
    path = str(http.get("path") or "/") if http else (url[2] or "/" if url else None)
    delay = _seconds(probe, "initialDelaySeconds", 0)
    period = _seconds(probe, "periodSeconds", whole("probe-period-seconds"))
    failures = _seconds(probe, "failureThreshold", whole("probe-failures"))
    return ProbeView(
        by="exec" if command else "tcp" if tcp else "grpc" if grpc else "http",
        path=path.partition("?")[0] if path else None,
        port=port,
        port_name=written if isinstance(written, str) and whole_number(written) is None else None,
        command=command,
        authorized=any(str(one.get("name")).lower() == "authorization" for one in mappings(http.get("httpHeaders"))),
        delay=delay,
        period=period,
        timeout=_seconds(probe, "timeoutSeconds", 1),
        failures=failures,
        budget=delay + period * failures,
        at=(*container.path, key),
    )


def _seconds(probe: Mapping[str, Any], key: str, default: int) -> int:
    value = probe.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def resolve_port(container: Mapping[str, Any], port: Any) -> int | None:
    """A port number, or the number of a named port of the container; None for a name that is not there."""
    if isinstance(port, int):
        return port
    if not isinstance(port, str):
        return None
    number = whole_number(port)
    if number is not None:
        return number
    for entry in mappings(container.get("ports")):
        if entry.get("name") == port:
            number = entry.get("containerPort")
            return number if isinstance(number, int) else None
    return None
