"""Files out of wheels, and out of the archives that stand in them."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path


def member(archive: bytes, path: Sequence[str]) -> bytes:
    """The file at the end of a path through nested archives: each step a name in a zip or a tar.gz."""
    name, *deeper = path
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as outer:
            content = outer.read(name)
    else:
        with tarfile.open(fileobj=io.BytesIO(archive)) as bundle:
            file = bundle.extractfile(name)
            if file is None:
                raise KeyError(name)
            content = file.read()
    return member(content, deeper) if deeper else content


def unpack_folder(wheel: Path, folder: str, target: Path) -> None:
    """Unpack one folder of a wheel, with the modes its files have there."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.filename.startswith(folder):
                path = Path(archive.extract(entry, target))
                mode = entry.external_attr >> 16 & 0o777
                if mode and path.is_file():
                    path.chmod(mode)
