"""A real Kubernetes control plane on loopback: etcd, API server, scheduler, controller manager."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.api import PATIENCE, Api
from cluster.certificates import Certificates, make
from cluster.errors import ClusterError
from cluster.sandbox import LOOPBACK, Sandbox, free_ports, must_be_free
from toolbox.lookup import command
from toolbox.table import ToolError

MINORS: Final = ("1.34", "1.37")
"""The Kubernetes minors that scripts/tools builds."""
_SCHEDULER_CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
    # A pod that did not fit is tried again soon: a test waits for it.
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 2,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The ports that the control plane listens on, all on loopback."""

    etcd: int
    peer: int
    server: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A running control plane."""

    minor: str
    """Its Kubernetes minor."""
    sandbox: Sandbox
    """The folder and the programs."""
    api: Api
    """Its API, as a user who may do everything."""
    kubeconfig: Path
    """The same user's kubeconfig, for kubectl, Helm and controllers."""
    certificates: Certificates
    """Signs webhooks and the extension API servers."""
    ports: Ports
    """Where it listens."""

    def wait(self, ready: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
        """Wait for something; ClusterError at once when a program of the cluster dies meanwhile."""
        self.sandbox.wait(ready, what, seconds)


def program(name: str) -> Path:
    """The pinned program; ClusterError says how to install it."""
    try:
        return command(name)
    except ToolError as error:
        raise ClusterError(f"{error.what}; {error.advice}") from error


def start(
    sandbox: Sandbox,
    minor: str,
    *,
    ports: Ports | None = None,
    controller_options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> ControlPlane:
    """Start a control plane in a sandbox and wait until its API, scheduler and controllers work.

    Raises:
        ClusterError: a program is not installed, did not start (a taken port, say) or was too slow.
    """
    programs = {name: program(f"{name}-{minor}") for name in _KUBERNETES} | {"etcd": program("etcd")}
    chosen = ports or Ports(**dict(zip(("etcd", "peer", "server"), free_ports(3), strict=True)))
    for port, what in ((chosen.etcd, "etcd"), (chosen.peer, "etcd"), (chosen.server, "kube-apiserver")):
        must_be_free(port, what)  # kube-apiserver itself tries for a minute before it says so
    certificates = make(sandbox.folder / "certificates")
    token = secrets.token_urlsafe(24)
    address = f"https://{LOOPBACK}:{chosen.server}"
    (sandbox.folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n", encoding="utf-8")
    kubeconfig = _write_kubeconfig(sandbox.folder, address, token, certificates)
    (sandbox.folder / "scheduler.json").write_text(
        json.dumps({**_SCHEDULER_CONFIGURATION, "clientConnection": {"kubeconfig": str(kubeconfig)} | _FAST}),
        encoding="utf-8",
    )
    api = Api(address, token, certificates.authority)
    sandbox.at_end(api.disconnect)
    plane = ControlPlane(
        minor=minor, sandbox=sandbox, api=api, kubeconfig=kubeconfig, certificates=certificates, ports=chosen,
    )  # fmt: skip
    sandbox.start("etcd", [programs["etcd"], *_etcd(chosen)], environment)
    start_server(plane, environment)
    sandbox.wait(lambda: _ready(api), f"Kubernetes {minor}: the API server's start", PATIENCE)
    scheduler = ["--config", "scheduler.json", "--secure-port", "0"]
    sandbox.start("kube-scheduler", [programs["kube-scheduler"], *scheduler], environment)
    controllers = [*_controllers(plane), *controller_options]
    sandbox.start("kube-controller-manager", [programs["kube-controller-manager"], *controllers], environment)
    sandbox.wait(
        lambda: api.get("v1", "ServiceAccount", "default"),
        f"Kubernetes {minor}: the controllers' start",
        PATIENCE,
    )
    return plane


def start_server(plane: ControlPlane, environment: Mapping[str, str] | None = None) -> None:
    """Start the API server of a control plane, the first time or after it was killed."""
    server = program(f"kube-apiserver-{plane.minor}")
    plane.sandbox.start("kube-apiserver", [server, *_server(plane)], environment)


_KUBERNETES = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
_FAST = {"qps": 500, "burst": 1000}


def _ready(api: Api) -> bool:
    try:
        return api.send("GET", "/readyz").accepted
    except ClusterError:
        return False


def _etcd(ports: Ports) -> list[str]:
    client, peer = f"http://{LOOPBACK}:{ports.etcd}", f"http://{LOOPBACK}:{ports.peer}"
    return [
        "--data-dir=etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=error",
        "--unsafe-no-fsync",  # a test cluster's data may be lost
    ]


def _server(plane: ControlPlane) -> list[str]:
    made = plane.certificates
    certificate, key = made.pair("server")
    proxy, proxy_key = made.pair("front-proxy-client")
    return [
        f"--etcd-servers=http://{LOOPBACK}:{plane.ports.etcd}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={plane.ports.server}",
        f"--tls-cert-file={certificate}",
        f"--tls-private-key-file={key}",
        f"--client-ca-file={made.authority}",
        "--token-auth-file=tokens.csv",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",  # as every distribution sets it: whether a pod may be is not for the server to say
        f"--service-account-key-file={made.service_account_key}",
        f"--service-account-signing-key-file={made.service_account_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",  # names only: nothing routes to them
        "--endpoint-reconciler-type=none",  # an EndpointSlice refuses a loopback address
        f"--requestheader-client-ca-file={made.authority}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={proxy}",
        f"--proxy-client-key-file={proxy_key}",
    ]


def _controllers(plane: ControlPlane) -> list[str]:
    return [
        f"--kubeconfig={plane.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--service-account-private-key-file={plane.certificates.service_account_key}",
        f"--root-ca-file={plane.certificates.authority}",
        f"--kube-api-qps={_FAST['qps']}",
        f"--kube-api-burst={_FAST['burst']}",
        "--pvclaimbinder-sync-period=1s",
    ]


def _write_kubeconfig(folder: Path, address: str, token: str, certificates: Certificates) -> Path:
    path = folder / "kubeconfig"
    cluster = {"server": address, "certificate-authority": str(certificates.authority)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
