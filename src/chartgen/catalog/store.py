"""A Store: one folder of fact files, one entry a file, loaded one file at a time and kept.

The key of an entry is its file name. Other names (aliases) stand in a small index that is generated from the
entries, so that a lookup parses one file. A user's folder adds entries and may override ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build, from_json, structure
from chartgen.kernel.yaml_source import Document, read

T = TypeVar("T")

INDEX = "names.json"
"""The generated index of all names: kind of fact, then plain name, then key."""


def plain(name: str) -> str:
    """A name without case and punctuation: how names are compared."""
    return "".join(character for character in name.lower() if character.isalnum())


@cache
def _index() -> Mapping[str, Mapping[str, str]]:
    index: dict[str, dict[str, str]] = from_json((catalog_data() / INDEX).read_bytes())
    return index


def document(path: Path) -> Document:
    """The one YAML document of a fact file, with positions.

    Raises:
        InputError: the file holds no document or several, or is no YAML.
    """
    documents = list(read(path.read_text(encoding="utf-8"), str(path)))
    if len(documents) != 1:
        problem = InputProblem(
            file=str(path),
            position=None,
            path="",
            found=f"{len(documents)} documents",
            expected="one document: one fact file holds one entry",
        )
        raise InputError([problem])
    return documents[0]


@dataclass(slots=True)
class Store(Generic[T]):
    """The entries of one kind of fact."""

    kind: str
    """What one entry is, in the words of an error: model, GPU."""
    folder: str
    """The folder below the catalog's data, and below a user's folder of facts."""
    type: type[T]
    """The dataclass of an entry. It has the fields `key` and `origin`, which the loader fills."""
    loaded: dict[str, T] = field(default_factory=dict)
    """Entries by key: each file is parsed once."""
    users: dict[str, Path] = field(default_factory=dict)
    """The user's entries: key to file."""
    user_names: dict[str, str] = field(default_factory=dict)
    """The user's names: plain name to key."""

    def keys(self) -> list[str]:
        """All keys, ours and the user's, sorted."""
        ours = (path.stem for path in (catalog_data() / self.folder).glob("*.yaml"))
        return sorted({*ours, *self.users}, key=str.lower)

    def all(self) -> Iterator[T]:
        """Every entry, in the order of keys."""
        return map(self.load, self.keys())

    def names(self) -> list[str]:
        """Every name that `find` knows, in plain form: keys and aliases."""
        return [*self.user_names, *_index().get(self.folder, {})]

    def find(self, name: str) -> str | None:
        """The key that `name` (a key or an alias, case and punctuation aside) stands for."""
        key = plain(name)
        return self.user_names.get(key) or _index().get(self.folder, {}).get(key)

    def get(self, name: str, *, hint: str | None = None) -> T:
        """The entry that `name` stands for.

        Raises:
            UnknownName: no entry has that key or alias; `hint` says what else would do.
        """
        key = self.find(name)
        if key is None:
            shown = (known.replace("--", "/") for known in self.keys())  # a file name says / as --
            raise UnknownName(self.kind, name, shown, hint)
        return self.load(key)

    def load(self, key: str) -> T:
        """The entry with exactly this key."""
        if key not in self.loaded:
            users = self.users.get(key)
            path = users or catalog_data() / self.folder / f"{key}.yaml"
            found = document(path)
            origin = str(path) if users else "catalog"
            self.loaded[key] = self._structured(found, key, origin, check=users is not None)
        return self.loaded[key]

    def _structured(self, found: Document, key: str, origin: str, *, check: bool) -> T:
        if check:
            structure(found, self.type, origin)
        data: dict[str, Any] = {**found.value, "key": key, "origin": origin}
        return build(data, self.type)

    def add(self, path: Path) -> list[str]:
        """Add a user's folder; return the keys of ours that its entries override.

        Raises:
            InputError: an entry is malformed; every problem of that file, each with its place.
        """
        overridden = []
        for file in sorted((path / self.folder).glob("*.yaml")):
            if (catalog_data() / self.folder / f"{file.stem}.yaml").exists():
                overridden.append(file.stem)
            self.users[file.stem] = file
            self.loaded.pop(file.stem, None)
            for name in names_of(file.stem, self.load(file.stem)):
                self.user_names[plain(name)] = file.stem
        return overridden

    def forget(self) -> None:
        """Drop everything that was loaded or added: what a test or a long-lived process starts from."""
        self.loaded.clear()
        self.users.clear()
        self.user_names.clear()


def names_of(key: str, entry: Any) -> list[str]:
    """Every name of an entry: its key, its id where it has one, its aliases."""
    identity = getattr(entry, "id", None)
    return [key, *([identity] if identity else []), *entry.aliases]
