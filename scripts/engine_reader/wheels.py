"""Wheels: downloaded with pip, their Python sources unpacked into a cache, the rest thrown away."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PLATFORMS: Final = (
    "manylinux1_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_31_x86_64",
    "manylinux_2_34_x86_64",
    "manylinux_2_35_x86_64",
)
_KEPT: Final = (".py", ".json", "METADATA", "entry_points.txt")
_DONE: Final = ".wheel"


@dataclass(frozen=True, slots=True)
class Wheel:
    """The unpacked sources of one release."""

    name: str
    """The wheel's file name: where the facts come from."""
    root: Path
    """The folder that holds `vllm/`."""


def default_cache() -> Path:
    """Where sources are kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "chartgen" / "vllm"


def unpacked(release: str, cache: Path, package: str = "vllm") -> Wheel:
    """The sources of a release, from the cache or from the package index.

    Raises:
        subprocess.CalledProcessError: pip has no Linux wheel of that release; its own words are on stderr.
    """
    root = cache / release
    done = root / _DONE
    if not done.is_file():
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            wheel = download(f"{package}=={release}", Path(folder))
            unpack(wheel, root)
            done.write_text(wheel.name, encoding="utf-8")
    return Wheel(done.read_text(encoding="utf-8"), root)


def download(requirement: str, folder: Path) -> Path:
    """Download the x86-64 Linux wheel of a requirement, without its dependencies."""
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", "3.12", "--implementation", "cp"]
    command += ["--abi", "abi3", "--abi", "cp312", "--abi", "cp38", *platforms, "--dest", str(folder), requirement]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, root: Path) -> None:
    """Unpack what reading and parsing need of a wheel: its sources and its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root, [name for name in archive.namelist() if name.endswith(_KEPT)])
