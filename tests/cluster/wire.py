"""One HTTPS connection to a Kubernetes API server per thread, and what the server says to each request."""

from __future__ import annotations

import http.client
import json
import re
import select
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from cluster.errors import ClusterError

Manifest = dict[str, Any]
"""One Kubernetes object as plain data."""

_WARNING: Final = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ANSWER_SECONDS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the API server said to one request."""

    status: int
    """The HTTP status."""
    body: Manifest
    """The object as stored; for a refusal, the Status object."""
    warnings: tuple[str, ...] = ()
    """What the server warned of, in its words."""

    @property
    def accepted(self) -> bool:
        """Whether the request was carried out."""
        return self.status < HTTPStatus.BAD_REQUEST

    @property
    def message(self) -> str:
        """Why the request was refused; empty when it was not."""
        return "" if self.accepted else str(self.body.get("message", self.body))


@dataclass
class Wire:
    """The way to one server, as one user. Safe to use from several threads: each has its own connection."""

    address: str
    """https://127.0.0.1:port."""
    token: str
    """The user's bearer token."""
    authority: Path
    """The certificate that the server's is signed by."""
    _local: threading.local = field(default_factory=threading.local)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        content: str = "application/json",
        accept: str = "application/json",
    ) -> Verdict:
        """Send one request (a body that is text goes as it is); ClusterError when the server does not answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": accept, "Content-Type": content}
        target = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        again = method != "POST" or "dryRun" in (query or {})
        deadline = time.monotonic() + _ANSWER_SECONDS
        while True:
            fresh = not hasattr(self._local, "connection")
            try:
                answer, text = self._exchange(method, target, data, headers)
            except (OSError, http.client.HTTPException) as error:
                if fresh or not again:
                    raise ClusterError(f"{self.address} does not answer: {error}") from error
                continue
            busy = answer.status == HTTPStatus.GATEWAY_TIMEOUT  # the server gave up, as on a machine full of builds
            if not (busy and again and time.monotonic() < deadline):
                break
        found = tuple(
            warning.replace('\\"', '"')
            for header in answer.headers.get_all("Warning", [])
            for warning in _WARNING.findall(header)
        )
        return Verdict(status=answer.status, body=_parsed(text), warnings=found)

    def _exchange(
        self, method: str, target: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        if hasattr(self._local, "connection") and _closed_by_server(self._local.connection):
            self.disconnect()
        if not hasattr(self._local, "connection"):
            trust = ssl.create_default_context(cafile=str(self.authority))
            server = urlsplit(self.address).netloc
            self._local.connection = http.client.HTTPSConnection(server, timeout=_ANSWER_SECONDS, context=trust)
        connection: http.client.HTTPSConnection = self._local.connection
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            return answer, answer.read()
        except (OSError, http.client.HTTPException):
            self.disconnect()
            raise

    def disconnect(self) -> None:
        """Close this thread's connection; the next request opens another."""
        if hasattr(self._local, "connection"):
            self._local.connection.close()
            del self._local.connection


def _closed_by_server(connection: http.client.HTTPSConnection) -> bool:
    """Whether there is something to read from an idle connection: its end, after some time without requests."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


def _parsed(text: bytes) -> Manifest:
    try:
        body = json.loads(text or b"{}")
    except ValueError:
        body = text.decode(errors="replace")
    return body if isinstance(body, dict) else {"message": str(body)}
