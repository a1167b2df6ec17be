"""From what the user names to manifests: files, folders, standard input. Charts have a reader of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path, PurePath
from typing import Final, TypeAlias

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem
from chartgen.kernel.text_file import decoded, read_text
from chartgen.kernel.yaml_source import MAX_BYTES, read
from chartgen.lint.documents import read_manifests
from chartgen.lint.manifest import Inputs, Manifest, Unread, items, mapping

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names that kustomize looks for in a folder."""
STDIN: Final = "<stdin>"
_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})

Read: TypeAlias = Manifest | Unread | str
"""An object, a document that is none, or a note to the reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReader:
    """Reads a whole folder, or an archive, as one thing: a chart or a kustomization."""

    knows: Callable[[Path], bool]
    """Whether the path is such a thing."""
    read: Callable[[Path], Iterable[Read]]
    """Its manifests."""


def is_chart(path: Path) -> bool:
    """Whether a path is a chart: a folder with Chart.yaml, or an archive."""
    if os.path.isdir(path):  # noqa: PTH112 - pathlib's raise where a folder must not be read
        return os.path.isfile(path / "Chart.yaml")  # noqa: PTH113
    return path.suffix == ".tgz" or path.name.endswith(".tar.gz")


@dataclass(slots=True)
class _Reader:
    folder_readers: Sequence[FolderReader]
    manifests: list[Manifest] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    patches: dict[Path, frozenset[str]] = field(default_factory=dict)

    def take(self, found: Iterable[Read]) -> None:
        for one in found:
            match one:
                case Manifest():
                    self.manifests.append(one)
                case Unread():
                    self.unread.append(one)
                case str():
                    self.notes.append(one)

    def path(self, path: Path) -> None:
        for reader in self.folder_readers:
            if reader.knows(path):
                self.take(reader.read(path))
                return
        if os.path.isdir(path):  # noqa: PTH112 - as in is_chart
            self._folder(path)
        elif path.name in self._patched(path.parent):
            found, expected = "a patch of the kustomization beside it", "its folder: kustomize builds it first"
            self.unread.append(Unread(fate="skipped", problem=_problem(str(path), found, expected)))
        else:
            self.take(_file(path))

    def _folder(self, folder: Path) -> None:
        try:
            entries = sorted(folder.iterdir())
        except OSError as error:
            self.unread.append(_failed(str(folder), error.strerror or str(error), "a folder that can be read"))
            return
        for entry in entries:
            if not self._wanted(entry):
                continue
            left = _left(entry)
            if left is None:
                self.path(entry)
            else:
                self.unread.append(Unread(fate="skipped", problem=_problem(str(entry), *left)))

    def _patched(self, folder: Path) -> frozenset[str]:
        if folder not in self.patches:
            self.patches[folder] = frozenset(_patches(folder))
        return self.patches[folder]

    def _wanted(self, entry: Path) -> bool:
        if entry.name.startswith(".") or entry.name in _SKIPPED_FOLDERS:
            return False
        if os.path.isdir(entry) or entry.suffix in _SUFFIXES:  # noqa: PTH112 - as in is_chart
            return True
        return any(reader.knows(entry) for reader in self.folder_readers)


def read_inputs(
    paths: Sequence[str], folder_readers: Sequence[FolderReader] = (), stdin: Callable[[], bytes] | None = None
) -> Inputs:
    """Read everything the user names; `-` is standard input.

    Raises:
        InputError: a named path is not there.
    """
    missing = [path for path in paths if path != "-" and not os.path.exists(path)]  # noqa: PTH110 - as in is_chart
    if missing:
        found, expected = "no such file or folder", "a manifest, a folder or -"
        raise InputError(_problem(path or '""', found, expected) for path in missing)
    reader = _Reader(folder_readers)
    for path in paths:
        before = len(reader.manifests) + len(reader.unread)
        if path == "-" and stdin is not None:
            content = stdin()
            expected = "manifests; the command in front of the pipe may have failed"
            empty = [_failed(STDIN, "no input", expected)]
            reader.take(read_bytes(content, STDIN, STDIN) if content.strip() else empty)
        else:
            reader.path(Path(path))
        if len(reader.manifests) + len(reader.unread) == before:
            reader.notes.append(f"{path} holds nothing to judge")
    return Inputs(manifests=tuple(reader.manifests), unread=tuple(reader.unread), notes=tuple(reader.notes))


def _file(path: Path) -> Iterator[Manifest | Unread]:
    """A file belongs to the folder it stands in: what is deployed together usually stands together."""
    name = str(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:  # a pipe does not say how much it holds
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        yield _failed(name, error.strerror or str(error), "a readable file")
        return
    if len(content) > MAX_BYTES:
        yield _failed(name, f"{max(size, len(content))} bytes", f"at most {MAX_BYTES}")
        return
    yield from read_bytes(content, name, str(path.parent))


def _patches(folder: Path) -> Iterator[str]:
    """The files of a folder that its kustomization only patches other objects with."""
    for name in KUSTOMIZATIONS:
        try:
            documents = list(read(read_text(folder / name), name))
        except InputError:
            continue
        for document in documents:
            kustomization = mapping(document.value)
            for key in ("patches", "patchesStrategicMerge", "patchesJson6902"):
                for patch in items(kustomization.get(key)):
                    yield PurePath(str(patch.get("path") if isinstance(patch, dict) else patch)).as_posix()


def read_bytes(content: bytes, file: str, group: str) -> Iterator[Manifest | Unread]:
    """The manifests of a file's bytes."""
    try:
        text = decoded(content, Path(file))
    except InputError as error:
        yield from (Unread(fate="failed", problem=problem) for problem in error.problems)
        return
    yield from read_manifests(text, file, group)


def _left(entry: Path) -> tuple[str, str] | None:
    """Why an entry of a folder is left out, and what would do; None where it is a file or a folder of its own."""
    if os.path.isdir(entry):  # noqa: PTH112 - as in is_chart
        return ("a link to a folder", "that folder, named itself") if entry.is_symlink() else None
    if os.path.exists(entry) and not os.path.isfile(entry):  # noqa: PTH110, PTH113
        return "a pipe, a socket or a device", "a file; a pipe is read when it is named itself"
    return None


def _failed(file: str, found: str, expected: str) -> Unread:
    return Unread(fate="failed", problem=_problem(file, found, expected))


def _problem(file: str, found: str, expected: str) -> InputProblem:
    return InputProblem(file=file, position=None, path="", found=found, expected=expected)
