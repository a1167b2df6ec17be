"""A chart as files in memory: packed for Helm, or read from a folder or archive that somebody else made."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Final

from chartgen.kernel.errors import InputError, InputProblem
from chartgen.validate.helmignore import Ignored

MAX_ARCHIVE_BYTES: Final = 20 * 1024 * 1024
"""A larger archive is refused unread; Helm's own limit for a release is 1 MiB."""
MAX_BYTES: Final = 100 * 1024 * 1024
"""What a chart may hold when unpacked: Helm's own limit."""
MAX_FILE_BYTES: Final = 5 * 1024 * 1024
"""What one file of a chart may hold: Helm's own limit."""
MAX_FILES: Final = 10_000
"""More files than any chart needs."""

_FOLDER: Final = "chart"


def pack(files: Mapping[str, str | bytes]) -> bytes:
    """A chart archive of the files: the same bytes for the same files, whatever their order.

    Raises:
        ValueError: a path is absolute, leaves the chart or is empty.
    """
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            if _inside(path) is None:
                raise ValueError(f"a chart has no place for a file {path!r}")
            content = files[path]
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"{_FOLDER}/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), compresslevel=1, mtime=0)


def read(path: Path) -> dict[str, bytes]:
    """The files of a chart on disk, a folder or an archive, by their path inside the chart.

    Files that the chart's `.helmignore` names are left out, as Helm does.

    Raises:
        InputError: it is no chart, holds more than a chart may, or reaches outside of itself.
    """
    files = _bounded(_folder(path) if path.is_dir() else _archive(path), path)
    if "Chart.yaml" not in files:
        raise _refusal(path, "no Chart.yaml", "a chart folder or a .tgz archive of one")
    return files


def _bounded(found: Iterable[tuple[str, bytes]], path: Path) -> dict[str, bytes]:
    """Files by their path, no more of them than a chart may hold."""
    files: dict[str, bytes] = {}
    total = 0
    try:
        for name, content in found:
            total += len(content)
            if total > MAX_BYTES:
                raise _refusal(path, f"more than {MAX_BYTES} bytes unpacked", "a smaller chart")
            files[name] = content
            if len(files) > MAX_FILES:
                raise _refusal(path, f"more than {MAX_FILES} files", "a smaller chart")
    except (OSError, tarfile.TarError, EOFError) as error:
        raise _refusal(path, str(error), "a chart folder or a .tgz archive of one") from error
    return files


def _folder(root: Path) -> Iterator[tuple[str, bytes]]:
    ignore_file = root / ".helmignore"
    ignored = Ignored(ignore_file.read_text(encoding="utf-8", errors="replace") if ignore_file.is_file() else "")
    inside = root.resolve()
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not ignored.matches(_name(root, here / name), is_folder=True))
        for name in sorted(names):
            file = here / name
            relative = _name(root, file)
            if ignored.matches(relative, is_folder=False):
                continue
            if not file.resolve().is_relative_to(inside):
                raise _refusal(file, "a link that leaves the chart", "files inside the chart")
            if file.is_file():
                if file.stat().st_size > MAX_FILE_BYTES:
                    raise _refusal(file, f"{file.stat().st_size} bytes", f"at most {MAX_FILE_BYTES}")
                yield relative, file.read_bytes()


def _name(root: Path, file: Path) -> str:
    return file.relative_to(root).as_posix()


def unpack(content: bytes) -> dict[str, bytes]:
    """The files of a packed subchart, by their path inside it; nothing when it is no archive of one."""
    path = Path("charts")
    try:
        return _bounded(_members(io.BytesIO(content), path), path)
    except InputError:
        return {}


def _archive(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.stat().st_size > MAX_ARCHIVE_BYTES:
        raise _refusal(path, f"{path.stat().st_size} bytes", f"at most {MAX_ARCHIVE_BYTES}")
    with path.open("rb") as file:
        yield from _members(file, path)


def _members(file: IO[bytes], path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=file, mode="r:gz") as archive:
        for member in archive:
            if member.isdir():
                continue
            name = _inside(member.name, strip=1)
            if name is None or not member.isreg():
                raise _refusal(path, f"{member.name!r}, a link or a path that leaves the chart", "plain files only")
            if member.size > MAX_FILE_BYTES:
                raise _refusal(path, f"{member.name!r} of {member.size} bytes", f"at most {MAX_FILE_BYTES}")
            content = archive.extractfile(member)
            yield name, content.read(MAX_FILE_BYTES) if content else b""


def _inside(name: str, *, strip: int = 0) -> str | None:
    """The path without its first `strip` folders; None when it is no path inside a folder."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in parts or len(parts) <= strip:
        return None
    return "/".join(parts[strip:])


def _refusal(path: Path, found: str, expected: str) -> InputError:
    return InputError([InputProblem(file=str(path), position=None, path="", found=found, expected=expected)])
