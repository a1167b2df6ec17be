"""A profile from a file: every problem of it at once, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem
from chartgen.kernel.structure import dotted, problems_of, structure
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import Document, Step, read
from chartgen.profile.types import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedProfile:
    """A profile and the text it came from, so that later steps can point at the line of a name."""

    profile: Profile
    """What was asked."""
    name: str
    """The chart's name: the profile's own, or the file's."""
    file: str
    """The file as the user named it."""
    document: Document
    """The text, with positions."""
    sets: tuple[tuple[Step, ...], ...] = ()
    """Paths that came from `--set` and not from the file."""

    def problem(self, path: Sequence[Step], *, found: str, expected: str, nearest: str | None = None) -> InputProblem:
        """A problem with the entry at `path`, placed where the user wrote it."""
        return _placed(self.document, self.file, self.sets, tuple(path), found, expected, nearest)


def _placed(
    document: Document,
    file: str,
    sets: Sequence[tuple[Step, ...]],
    path: tuple[Step, ...],
    found: str,
    expected: str,
    nearest: str | None,
) -> InputProblem:
    given = any(path[: len(one)] == one for one in sets)
    span = document.span(path)
    position = None if given else document.position(path)
    if span is not None and not given:
        position = document.value_position(path)
    return InputProblem(
        file="--set" if given else file,
        position=position,
        path=dotted(path),
        found=found,
        expected=expected,
        nearest=nearest,
    )


def load_profile(path: Path, sets: Sequence[str] = ()) -> LoadedProfile:
    """Read the profile at `path`, with `sets` such as "cluster.kubernetes=1.35" laid over it.

    Raises:
        InputError: the file cannot be read, is no YAML, or does not say a profile.
    """
    file = str(path)
    document = _document(read_text(path), file)
    paths = tuple(_lay_over(document, text) for text in sets)
    problems = [
        _from_set(problem) if any(_touches(problem.path, dotted(one)) for one in paths) else problem
        for problem in problems_of(document, Profile, file)
    ]
    if problems:
        raise InputError(problems)
    profile = structure(document, Profile, file)
    name = profile.name or path.stem
    loaded = LoadedProfile(profile=profile, name=name, file=file, document=document, sets=paths)
    if not _is_name(name):
        fix = "a profile named in lower-case letters, digits and dashes, at most 40: set `name:`"
        raise InputError([loaded.problem(["name"], found=repr(name), expected=fix)])
    return loaded


MAX_NAME = 40
"""Longest chart name: release, HPA and label names are made from it, and KEDA allows 54 for its own."""


def _is_name(name: str) -> bool:
    plain = name.replace("-", "a")
    return (
        len(name) <= MAX_NAME
        and plain.isascii()
        and plain.isalnum()
        and plain == plain.lower()
        and name[0].isalpha()
        and name[-1] != "-"
    )


def _touches(path: str, given: str) -> bool:
    """Whether a problem's path lies on the way to, or below, what `--set` gave."""
    return path == given or path.startswith((f"{given}.", f"{given}[")) or given.startswith(f"{path}.")


def _from_set(problem: InputProblem) -> InputProblem:
    return InputProblem(
        file="--set",
        position=None,
        path=problem.path,
        found=problem.found,
        expected=problem.expected,
        nearest=problem.nearest,
    )


def _document(text: str, file: str) -> Document:
    documents = list(read(text, file))
    if len(documents) != 1:
        raise InputError([_whole(file, f"{len(documents)} YAML documents", "one profile in a file")])
    document = documents[0]
    if not isinstance(document.value, dict):
        raise InputError([_whole(file, "no mapping", "keys such as model, gpu, context and region")])
    return document


def _whole(file: str, found: str, expected: str) -> InputProblem:
    return InputProblem(file=file, position=None, path="", found=found, expected=expected)


def _lay_over(document: Document, text: str) -> tuple[Step, ...]:
    """Set one `a.b=value` in the document; the value is read as YAML, as in the file."""
    path, separator, value = text.partition("=")
    keys = tuple(path.split("."))
    if not separator or not all(keys):
        raise InputError([_whole("--set", repr(text), "key=value, such as cluster.kubernetes=1.35")])
    if keys[0] == "overrides" and len(keys) > 1:  # the rest is one key: the path of a value
        keys = ("overrides", path.removeprefix("overrides."))
    node: Any = document.value
    for key in keys[:-1]:
        if not isinstance(node.get(key), dict):
            node[key] = {}
        node = node[key]
    documents = list(read(value, "--set"))
    node[keys[-1]] = documents[0].value if documents else None
    return keys
