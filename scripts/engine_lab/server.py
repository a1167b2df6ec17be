"""The engine as a process, watched the way the kubelet does, and spoken to the way clients do."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine_lab.adapted import Adapted
from engine_lab.container import Probe

OK: Final = 200
_LOCAL: Final = "127.0.0.1"
_DONE: Final = b"data: [DONE]"
_DATA: Final = b"data: "
_WHOLE: Final = "length"
"""The end of a request that got every token it asked for."""
_BEHIND_US: Final = ("nice", "-n", "10")
"""The engine takes every core for its arithmetic: who probes and reads must come first to see it as it is."""
_PATIENCE: Final = 600.0
"""Seconds that a client of these checks waits: longer than any grace period."""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind((_LOCAL, 0))
        port: int = found.getsockname()[1]
        return port


@dataclass(slots=True)
class Stream:
    """One streamed completion."""

    tokens: int
    status: int = 0
    parts: int = 0
    ended: str = ""
    """The reason that the engine gave for the end: a cut stream is closed as if it were whole."""
    complete: bool = False
    error: str = ""
    thread: threading.Thread | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A running engine."""

    adapted: Adapted
    process: subprocess.Popen[bytes]
    log: Path
    started: float = field(default_factory=time.monotonic)

    def connection(self, timeout: float = _PATIENCE) -> http.client.HTTPConnection:
        """A new connection to it."""
        return http.client.HTTPConnection(_LOCAL, self.adapted.port, timeout=timeout)

    def get(self, path: str, timeout: float = _PATIENCE) -> tuple[int, str]:
        """Status and body; status 0 when nothing answers in time."""
        connection = self.connection(timeout)
        try:
            connection.request("GET", path, headers=self.headers())
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def headers(self) -> Mapping[str, str]:
        """What a client of the chart sends."""
        key = self.adapted.api_key
        return {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}

    def turns_ready(self, probe: Probe) -> float:
        """Probe as the kubelet does; the seconds until the first success.

        Raises:
            TimeoutError: the probe gave up, and the kubelet would kill the container.
            ChildProcessError: the engine ended by itself.
        """
        time.sleep(probe.delay)
        for _ in range(probe.failures):
            if self.process.poll() is not None:
                message = f"the engine ended with {self.process.returncode}:\n{self.tail()}"
                raise ChildProcessError(message)
            begun = time.monotonic()
            if self.get(probe.path, probe.timeout)[0] == OK:
                return time.monotonic() - self.started
            time.sleep(max(0.0, probe.period - (time.monotonic() - begun)))
        message = f"not ready after {probe.budget:.0f} s: the kubelet kills it"
        raise TimeoutError(message)

    def stream(self, tokens: int) -> Stream:
        """Start a streamed completion of exactly `tokens` tokens in a thread of its own."""
        stream = Stream(tokens)
        stream.thread = threading.Thread(target=self._run, args=(stream,), daemon=True)
        stream.thread.start()
        return stream

    def _run(self, stream: Stream) -> None:
        body: dict[str, Any] = {
            "model": self.adapted.served_name,
            "prompt": "one two three",
            "max_tokens": stream.tokens,
            "ignore_eos": True,
            "stream": True,
        }
        connection = self.connection()
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), self.headers())
            answer = connection.getresponse()
            stream.status = answer.status
            if answer.status != OK:
                stream.error = answer.read().decode()
                return
            for line in answer:
                if line.startswith(_DONE):
                    stream.complete = stream.ended == _WHOLE and not stream.error
                elif line.startswith(_DATA):
                    self._part(stream, json.loads(line.removeprefix(_DATA)))
        except (OSError, http.client.HTTPException) as error:
            stream.error = repr(error)
        finally:
            connection.close()

    @staticmethod
    def _part(stream: Stream, part: dict[str, Any]) -> None:
        stream.parts += 1
        if "error" in part:
            stream.error = json.dumps(part["error"])
        for choice in part.get("choices", ()):
            stream.ended = choice.get("finish_reason") or stream.ended

    def stop(self, grace: float) -> float:
        """Send SIGTERM and wait; the seconds it took.

        Raises:
            TimeoutError: it outlived the grace period and was killed.
        """
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()
            message = f"it outlived the {grace:.0f} s that are left of the grace period"
            raise TimeoutError(message) from None
        return time.monotonic() - begun

    def kill(self) -> None:
        """End the engine and what it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()

    def tail(self) -> str:
        """The last words of its log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])


@contextmanager
def running(adapted: Adapted, folder: Path) -> Iterator[Server]:
    """Start the engine in a process group of its own, and leave nothing behind."""
    log = folder / "engine.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            (*_BEHIND_US, *adapted.words),
            env=dict(adapted.env),
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(adapted, process, log)
    try:
        yield server
    finally:
        server.kill()
