"""Fake engines: every ready pod of an engine answers on its own loopback address, as its arguments say."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

from cluster.api import Api
from cluster.background import Background
from cluster.engine_metrics import RUNNING, WAITING, exposition
from cluster.sandbox import LOOPBACK
from cluster.wire import Manifest

_QUEUE: Final = "rabbitmq_queue_messages_ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One pod's engine."""

    namespace: str
    address: tuple[str, int]
    release: str
    """The vLLM release of its image."""
    model: str
    """The name it serves the model under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The requests of all engines of a namespace, of which each engine has its share."""

    running: int = 0
    waiting: int = 0


class Engines(Background):
    """The engines of a control plane, and the requests that come to them, until it is closed."""

    def __init__(self, api: Api) -> None:
        super().__init__(api, "engines")
        self._loads: dict[str, Load] = {}
        self._queues: dict[str, int] = {}
        self._silent: set[str] = set()
        self._found: dict[tuple[str, int], Engine] = {}
        self._servers: dict[tuple[str, int], ThreadingHTTPServer] = {}
        self._broker = _serve((LOOPBACK, 0), self._broker_metrics)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        for server in (self._broker, *self._servers.values()):
            server.shutdown()
            server.server_close()

    @property
    def broker_port(self) -> int:
        """Where the message broker shows the length of its queues."""
        return int(self._broker.server_address[1])

    def send(self, namespace: str, *, running: int = 0, waiting: int = 0) -> None:
        """Have so many requests run and wait in a namespace from now on."""
        self._loads[namespace] = Load(running=running, waiting=waiting)

    def queue(self, name: str, messages: int) -> None:
        """Have so many messages in a queue of the message broker from now on."""
        self._queues[name] = messages

    def silence(self, namespace: str, *, silent: bool) -> None:
        """Have the engines of a namespace serve no metrics, or serve them again."""
        (self._silent.add if silent else self._silent.discard)(namespace)

    def serve(self) -> None:
        """Have every pod that serves and is ready now answer, and no other: a worker of a group serves nothing."""
        pods = self._api.list("v1", "Pod", labels="app.kubernetes.io/component=engine")
        found = {engine.address: engine for pod in pods if _ready(pod) for engine in _engines(pod)}
        self._found = found
        for address in found.keys() - self._servers.keys():
            self._servers[address] = _serve(address, partial(self._metrics, address))
        for address in self._servers.keys() - found.keys():
            server = self._servers.pop(address)
            server.shutdown()
            server.server_close()

    def _metrics(self, address: tuple[str, int]) -> str | None:
        engine, found = self._found.get(address), self._found
        if engine is None or engine.namespace in self._silent:
            return None
        peers = sorted(other.address for other in found.values() if other.namespace == engine.namespace)
        load, part = self._loads.get(engine.namespace, Load()), (len(peers), peers.index(address))
        values = {RUNNING: _share(load.running, *part), WAITING: _share(load.waiting, *part)}
        return exposition(engine.release, engine.model, values)

    def _broker_metrics(self) -> str:
        lines = (f'{_QUEUE}{{queue="{name}"}} {messages}' for name, messages in self._queues.items())
        return "\n".join([f"# TYPE {_QUEUE} gauge", *lines]) + "\n"


def _share(total: int, parts: int, number: int) -> int:
    """One of so many nearly equal parts, which add up to the total."""
    return math.floor(total * (number + 1) / parts) - math.floor(total * number / parts)


def _ready(pod: Manifest) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def _engines(pod: Manifest) -> Iterator[Engine]:
    (container,) = (each for each in pod["spec"]["containers"] if each["name"] == "engine")
    arguments: list[str] = container["args"]
    for port in container.get("ports", ()):
        if port["name"] == "http":
            yield Engine(
                namespace=pod["metadata"]["namespace"],
                address=(pod["status"]["podIP"], port["containerPort"]),
                release=container["image"].rpartition(":v")[2],
                model=arguments[arguments.index("--served-model-name") + 1],
            )


def _serve(address: tuple[str, int], text: Callable[[], str | None]) -> ThreadingHTTPServer:
    """Answer GET /metrics with a text, in threads; 503 while there is none."""

    class Handler(BaseHTTPRequestHandler):
        """Answers one request."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Send the text of /metrics."""
            body = text() if self.path == "/metrics" else None
            content = (body or "").encode()
            with suppress(ConnectionError):  # whoever asked may have been ended meanwhile
                self.send_response(503 if body is None else 200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(address, Handler)
    threading.Thread(target=server.serve_forever, name=f"engine-{address[0]}", daemon=True).start()
    return server
