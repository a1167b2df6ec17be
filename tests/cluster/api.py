"""A small client of the Kubernetes API: send objects, read the server's verdict and its warnings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, Literal, TypeVar
from urllib.parse import quote

from cluster import sandbox
from cluster.errors import ClusterError
from cluster.wire import Manifest, Verdict, Wire

T = TypeVar("T")

_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
_DISCOVERY: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PATIENCE: Final = 120.0
"""Seconds after which something will not come any more: many, as other builds may keep the machine busy."""
_POLL_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Resource:
    """Where objects of one kind live."""

    plural: str
    namespaced: bool


@dataclass
class Api(Wire):
    """The objects of one server, as one user."""

    _resources: dict[tuple[str, str], Resource] = field(default_factory=dict)

    def resource(self, version: str, kind: str) -> Resource:
        """Where objects of a kind live; ClusterError when the server does not serve it."""
        if (version, kind) not in self._resources:
            self._resources = dict(self._discover())
        if (version, kind) not in self._resources:
            raise ClusterError(f"the server does not serve {version} {kind}")
        return self._resources[version, kind]

    def serves(self, version: str, kind: str) -> bool:
        """Whether the server serves a kind, asked anew."""
        self._resources = dict(self._discover())
        return (version, kind) in self._resources

    def kinds(self) -> set[str]:
        """Every kind that the server serves."""
        return {kind for (_, kind), _ in self._discover()}

    def _discover(self) -> Iterable[tuple[tuple[str, str], Resource]]:
        for root in ("/api", "/apis"):
            listing = self.send("GET", root, accept=_DISCOVERY).body
            for group in listing.get("items", []):
                name = group["metadata"].get("name", "")
                for version in group["versions"]:
                    path = f"{name}/{version['version']}" if name else version["version"]
                    for entry in version.get("resources", []):
                        kind = entry["responseKind"]["kind"]
                        yield (path, kind), Resource(entry["resource"], entry["scope"] == "Namespaced")

    def path(self, version: str, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        """The URL path of a collection or of an object."""
        resource = self.resource(version, kind)
        steps = ["apis" if "/" in version else "api", version]
        if resource.namespaced and namespace:
            steps += ["namespaces", quote(namespace)]
        steps.append(resource.plural)
        if name:
            steps.append(quote(name))
        return "/" + "/".join(steps)

    def _path_of(self, manifest: Manifest, namespace: str, *, named: bool) -> str:
        data = manifest["metadata"]
        where = data.get("namespace", namespace)
        return self.path(manifest["apiVersion"], manifest["kind"], where, data["name"] if named else None)

    def create(
        self,
        manifest: Manifest,
        *,
        namespace: str = "default",
        dry_run: bool = False,
        validate: Literal["Strict", "Warn", "Ignore"] = "Strict",
    ) -> Verdict:
        """Create an object, or ask the server what it would say; unknown fields are refused by default."""
        query = {"fieldValidation": validate, **({"dryRun": "All"} if dry_run else {})}
        return self.send("POST", self._path_of(manifest, namespace, named=False), manifest, query=query)

    def apply(
        self,
        manifest: Manifest,
        *,
        namespace: str = "default",
        manager: str = "chartgen",
        force: bool = False,
        dry_run: bool = False,
    ) -> Verdict:
        """Apply an object on the server's side, as `kubectl apply --server-side` and Helm 4 do."""
        query = {"fieldManager": manager, "fieldValidation": "Strict", "force": str(force).lower()}
        query |= {"dryRun": "All"} if dry_run else {}
        path = self._path_of(manifest, namespace, named=True)
        return self.send("PATCH", path, manifest, query=query, content=_APPLY)

    def merge(self, manifest: Manifest, change: Manifest, *, part: str = "") -> Verdict:
        """Change an object by a merge patch; `part` is a subresource such as status or scale."""
        path = self._path_of(manifest, "default", named=True) + (f"/{part}" if part else "")
        return self.send("PATCH", path, change, content=_MERGE)

    def get(self, version: str, kind: str, name: str, namespace: str = "default") -> Manifest | None:
        """The object of that name, or None; ClusterError when the server refuses to tell."""
        verdict = self.send("GET", self.path(version, kind, namespace, name))
        return None if verdict.status == HTTPStatus.NOT_FOUND else _told(verdict, f"{kind} {name}")

    def list(
        self, version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Manifest]:
        """All objects of a kind, in one namespace or in all, each with apiVersion and kind; ClusterError if refused."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        body = _told(self.send("GET", self.path(version, kind, namespace), query=query), f"every {kind}")
        return [{"apiVersion": version, "kind": kind, **item} for item in body.get("items", [])]

    def delete(self, manifest: Manifest, *, namespace: str = "default", grace: int | None = None) -> Verdict:
        """Delete an object and what it owns; for a pod, with its own grace period or another."""
        options: Manifest = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        return self.send("DELETE", self._path_of(manifest, namespace, named=True), options)

    def evict(self, pod: Manifest) -> Verdict:
        """Ask for a pod's eviction, as a node drain does: disruption budgets decide."""
        data = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": data}
        return self.send("POST", f"{self._path_of(pod, 'default', named=True)}/eviction", eviction)

    def must(self, manifest: Manifest, *, namespace: str = "default") -> Manifest:
        """Create an object that the test needs; ClusterError when the server refuses it."""
        verdict = self.create(manifest, namespace=namespace)
        if not verdict.accepted:
            raise ClusterError(f"{manifest['kind']} {manifest['metadata']}: {verdict.message}")
        return verdict.body


def _told(verdict: Verdict, what: str) -> Manifest:
    if not verdict.accepted:
        raise ClusterError(f"the server does not tell {what}: {verdict.message}")
    return verdict.body


def wait_for(ready: Callable[[], T | None], what: str, seconds: float = PATIENCE) -> T:
    """The first true answer of `ready`; ClusterError when it does not come in time, or a program has ended."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ready()
        if answer:
            return answer
        sandbox.check_programs()
        if time.monotonic() > deadline:
            raise ClusterError(f"{what}: not within {seconds:.0f} s (last answer: {answer!r})")
        time.sleep(_POLL_SECONDS)
