"""Files that the user asks for: at any moment each holds the old content or the new one, never a part of either."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from chartgen.kernel.errors import InputError, InputProblem

_OPEN_FILES: Final = ("/dev/std", "/dev/fd/", "/proc/")
"""How the names of our own open files begin: whoever reads them knows the file that is open, not one of its name."""


def check_places(paths: Iterable[Path]) -> None:
    """Refuse files that cannot be written before anything is made for them, by making a file beside each.

    Raises:
        InputError: with every such file and what the system says.
    """

    def check(path: Path) -> None:
        if not _is_stream(path):
            with tempfile.TemporaryFile(dir=_target(path).parent):
                pass

    _raise_all(_for_each(paths, check))


def make_folders(paths: Iterable[Path]) -> None:
    """Make folders, with those above them.

    Raises:
        InputError: one cannot be made.
    """
    for path in paths:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError([_problem(path, error, "a folder to write to")]) from error


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files or none: each beside its place first, and into it by renaming when all are written.

    A file keeps its mode and, where the system lets us, its owner; a symbolic link stays one. A pipe or a device
    is written to as it is, after the others.

    Raises:
        InputError: with each file that cannot be written and what the system says.
    """
    streams = [path for path in contents if _is_stream(path)]
    staged: dict[Path, tuple[Path, Path]] = {}

    def stage(path: Path) -> None:
        target = _target(path)
        staged[path] = _beside(target, contents[path]), target

    def take_place(path: Path) -> None:
        made, target = staged[path]
        made.replace(target)

    try:
        _raise_all(_for_each([path for path in contents if path not in streams], stage))
        problems = _for_each(staged, take_place)
    finally:
        for made, _ in staged.values():
            made.unlink(missing_ok=True)
    problems += _for_each(streams, lambda path: path.write_bytes(contents[path]))
    _raise_all(problems)


def _for_each(paths: Iterable[Path], action: Callable[[Path], object]) -> list[InputProblem]:
    """What stands in the way of an action, for each path where something does."""
    problems = []
    for path in paths:
        try:
            action(path)
        except OSError as error:
            problems.append(_problem(path, error))
    return problems


def _raise_all(problems: list[InputProblem]) -> None:
    if problems:
        raise InputError(problems)


def _target(path: Path) -> Path:
    """The file that a path means, behind its links; raise OSError where it cannot be one that we write."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not os.access(target, os.W_OK):
        # Renaming would get past the wish of whoever made it read-only.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _is_stream(path: Path) -> bool:
    """Whether it is a pipe, a device, or one of our own open files by its name in /dev or /proc."""
    name = os.path.abspath(path)  # noqa: PTH100 - without following the link
    if not os.path.exists(name) or os.path.isdir(name):  # noqa: PTH110, PTH112 - pathlib's raise where these say no
        return False
    return not os.path.isfile(name) or name.startswith(_OPEN_FILES)  # noqa: PTH113


def _beside(target: Path, content: bytes) -> Path:
    """A new file in the target's folder that holds the content and has the target's mode."""
    made = target.with_name(f".chartgen-{secrets.token_hex(8)}")
    try:
        with made.open("xb") as file:
            file.write(content)
        if target.exists():
            there = target.stat()
            with suppress(OSError):
                os.chown(made, there.st_uid, there.st_gid)
            shutil.copymode(target, made)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    return made


def _problem(path: Path, error: OSError, expected: str = "a file that can be written") -> InputProblem:
    return InputProblem(file=str(path), position=None, path="", found=error.strerror or str(error), expected=expected)
