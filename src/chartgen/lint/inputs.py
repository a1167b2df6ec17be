"""From what the user names to manifests: files, folders, standard input. Charts have a reader of their own."""

from __future__ import annotations

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
    if path.is_dir():
        return (path / "Chart.yaml").is_file()
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
        if path.is_dir():
            for entry in sorted(path.iterdir()):
                if self._wanted(entry):
                    self.path(entry)
        elif path.name in self._patched(path.parent):
            found, expected = "a patch of the kustomization beside it", "its folder: kustomize builds it first"
            self.unread.append(Unread(fate="skipped", problem=_problem(str(path), found, expected)))
        else:
            self.take(_file(path))

    def _patched(self, folder: Path) -> frozenset[str]:
        if folder not in self.patches:
            self.patches[folder] = frozenset(_patches(folder))
        return self.patches[folder]

    def _wanted(self, entry: Path) -> bool:
        if entry.name.startswith(".") or entry.name in _SKIPPED_FOLDERS:
            return False
        if entry.is_dir():
            return not entry.is_symlink()
        return entry.suffix in _SUFFIXES or any(reader.knows(entry) for reader in self.folder_readers)


def read_inputs(
    paths: Sequence[str], folder_readers: Sequence[FolderReader] = (), stdin: Callable[[], bytes] | None = None
) -> Inputs:
    """Read everything the user names; `-` is standard input.

    Raises:
        InputError: a named path is not there.
    """
    missing = [path for path in paths if path != "-" and not Path(path).exists()]
    if missing:
        raise InputError(_problem(path, "no such file or folder", "a manifest, a folder or -") for path in missing)
    reader = _Reader(folder_readers)
    for path in paths:
        if path == "-" and stdin is not None:
            reader.take(read_bytes(stdin(), STDIN, STDIN))
        else:
            reader.path(Path(path))
    return Inputs(manifests=tuple(reader.manifests), unread=tuple(reader.unread), notes=tuple(reader.notes))


def _file(path: Path) -> Iterator[Manifest | Unread]:
    """A file belongs to the folder it stands in: what is deployed together usually stands together."""
    name = str(path)
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MAX_BYTES else None
    except OSError as error:
        yield _failed(name, error.strerror or str(error), "a readable file")
        return
    if content is None:
        yield _failed(name, f"{size} bytes", f"at most {MAX_BYTES}")
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


def _failed(file: str, found: str, expected: str) -> Unread:
    return Unread(fate="failed", problem=_problem(file, found, expected))


def _problem(file: str, found: str, expected: str) -> InputProblem:
    return InputProblem(file=file, position=None, path="", found=found, expected=expected)
