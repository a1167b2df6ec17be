"""The keys and certificates of a test cluster, made by openssl, good for a day."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.errors import ClusterError

_EXTENSIONS = """\
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, digitalSignature
[leaf]
subjectAltName = DNS:localhost, IP:127.0.0.1
extendedKeyUsage = serverAuth, clientAuth
"""


@dataclass(frozen=True, slots=True)
class Certificates:
    """One authority, and what it signed, in one folder."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that every client of the cluster trusts."""
        return self.folder / "ca.crt"

    @property
    def service_account_key(self) -> Path:
        """The key that signs and checks the tokens of service accounts."""
        return self.folder / "service-account.key"

    def pair(self, name: str) -> tuple[Path, Path]:
        """The certificate and the key of `server` (localhost) or `front-proxy-client`."""
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"

    def copied_to(self, folder: Path) -> Path:
        """A folder with the authority and the pair `server`, under the names that controllers look for."""
        folder.mkdir(exist_ok=True)
        for source, name in zip((self.authority, *self.pair("server")), ("ca.crt", "tls.crt", "tls.key"), strict=True):
            shutil.copyfile(source, folder / name)
        return folder


def make(folder: Path) -> Certificates:
    """Make an authority, a server and a front-proxy certificate, and the key of service accounts."""
    folder.mkdir()
    (folder / "extensions.ini").write_text(_EXTENSIONS, encoding="utf-8")
    for name in ("ca", "server", "front-proxy-client", "service-account"):
        _openssl(folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")
    _sign(folder, "ca", "ca", ["-signkey", "ca.key"])
    for name in ("server", "front-proxy-client"):
        _sign(folder, name, "leaf", ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"])
    return Certificates(folder)


def _sign(folder: Path, name: str, section: str, signer: list[str]) -> None:
    request, certificate = f"{name}.csr", f"{name}.crt"
    extensions = ["-extfile", "extensions.ini", "-extensions", section]
    _openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN={name}", "-out", request)
    _openssl(folder, "x509", "-req", "-days", "1", "-in", request, "-out", certificate, *signer, *extensions)


def _openssl(folder: Path, *arguments: str) -> None:
    command = ["openssl", *arguments]
    try:
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise ClusterError("openssl is needed to make the cluster's certificates: install it") from error
    if answer.returncode:
        raise ClusterError(f"openssl {' '.join(arguments)} failed:\n{answer.stderr}")
