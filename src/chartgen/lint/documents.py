"""Manifests from text: every document of a file, a broken one among good ones, lists, templates given raw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from chartgen.kernel.errors import InputError, InputProblem, Position
from chartgen.kernel.structure import shown
from chartgen.kernel.yaml_source import Document, Step, Text, read
from chartgen.lint.chart_keys import listed_keys
from chartgen.lint.manifest import Manifest, Unread
from chartgen.lint.operators.kinds import VALUES, chart_of

MAX_BROKEN: Final = 100
"""After so many broken documents the rest of a file is left unread, and that is said."""
MAX_LISTS: Final = 8
"""So deep may Lists stand in Lists; what stands deeper is said to be left unread."""

_TEMPLATE: Final = re.compile(r'\{\{-?\s*(?:\.(?:Values|Release|Chart|Capabilities|Files)\b|include ")')
_VALUES_FILE: Final = re.compile(r"^(servingEngineSpec|modelArtifacts):", re.MULTILINE)
"""Values files that are judged as what they are; a chart may read templates out of them as text."""
_PLACEHOLDER: Final = re.compile(r"\{\{|\[%|\[\[ ?[a-z]|\{%-? ")
_MARKER: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)


def read_manifests(text: str, file: str, group: str, *, rendered: bool = False) -> Iterator[Manifest | Unread]:
    """Every object of a file, and every document of it that is none. What Helm rendered is no template any more."""
    if not rendered and _TEMPLATE.search(text) and not _VALUES_FILE.search(text):
        found = "a Helm template that is not rendered"
        yield _unread(file, _first(text, _TEMPLATE), found, "its chart's folder: it is rendered before it is judged")
        return
    for document in _documents(text, file):
        if isinstance(document, Unread):
            yield document
        else:
            yield from _objects(document, file, group)


def _documents(text: str, file: str) -> Iterator[Document | Unread]:
    """The documents of a text. After a broken one the text is read on from the next marker."""
    start, whole = 0, Text(text)
    for _ in range(MAX_BROKEN):
        try:
            for document in read(_from(text, start), file):
                document.text = whole
                yield document
        except InputError as error:
            (problem,) = error.problems
            yield Unread(fate="failed", problem=_explained(problem, text))
            following = _next_marker(text, problem.position, start)
            if following is None:
                return
            start = following
        else:
            return
    yield _unread(file, None, f"more than {MAX_BROKEN} broken documents", "valid YAML", failed=True)


def _from(text: str, start: int) -> str:
    """The text with all before `start` blanked, so that places stay what they are."""
    return re.sub(r"[^\r\n]", " ", text[:start]) + text[start:] if start else text


def _next_marker(text: str, position: Position | None, start: int) -> int | None:
    if position is None:
        return None
    lines = text.splitlines(keepends=True)
    offset = sum(map(len, lines[: position.line - 1]))
    marker = _MARKER.search(text, max(offset, start + 1))
    return marker.start() if marker else None


def _explained(problem: InputProblem, text: str) -> InputProblem:
    """The problem, with the likely cause when the text looks like a template of some kind."""
    line = text.splitlines()[problem.position.line - 1 :][:1] if problem.position else []
    if line and _PLACEHOLDER.search(line[0]):
        return InputProblem(
            file=problem.file,
            position=problem.position,
            path="",
            found="a template that is not rendered",
            expected="what the template renders to",
        )
    return problem


def _objects(document: Document, file: str, group: str) -> Iterator[Manifest | Unread]:
    value = document.value
    if value is None:
        return
    if isinstance(value, list):
        # A JSON array of objects, as `kubectl get -o json | jq .items` writes it.
        for index, entry in enumerate(value):
            yield from _unfolded(document, file, group, (index,), entry)
    else:
        yield from _unfolded(document, file, group, (), value)


def _unfolded(
    document: Document, file: str, group: str, root: tuple[Step, ...], value: Any, depth: int = 0
) -> Iterator[Manifest | Unread]:
    """An object, or every object of a List: a List may hold Lists."""
    if not (isinstance(value, dict) and _is_list(value)):
        yield _object(document, file, group, root, value)
        return
    entries, where = value.get("items"), (*root, "items")
    if entries is None:
        return
    if not isinstance(entries, list):
        yield _unread(file, document.position(where), shown(entries), "a list of Kubernetes objects", failed=True)
    elif depth == MAX_LISTS:
        found = f"a List inside {MAX_LISTS} others"
        yield _unread(file, document.position(where), found, "the objects themselves", failed=True)
    else:
        for index, entry in enumerate(entries):
            yield from _unfolded(document, file, group, (*where, index), entry, depth + 1)


def _is_list(value: dict[str, Any]) -> bool:
    """Whether it is a v1 List, or a typed one as the API answers: both keep objects under `items`."""
    kind = value.get("kind")
    if kind == "List" and value.get("apiVersion") == "v1":
        return True
    return isinstance(kind, str) and kind.endswith("List") and isinstance(value.get("items"), list)


def _object(document: Document, file: str, group: str, root: tuple[Step, ...], value: Any) -> Manifest | Unread:
    position = document.position(root)
    if not isinstance(value, dict):
        return _unread(file, position, shown(value), "a Kubernetes object", failed=True)
    if isinstance(value.get("kind"), str) and isinstance(value.get("apiVersion"), str):
        return Manifest(file=file, group=group, document=document, root=root, value=value)
    if ("kind" in value or "apiVersion" in value) and "metadata" in value:
        missing = "apiVersion" if "kind" in value else "kind"
        return _unread(file, position, f"an object without {missing}", f"the key {missing!r}", failed=True)
    known = chart_of(value)
    if known is not None:
        chart, kind = known
        named = {"apiVersion": f"{VALUES}/v1", "kind": kind, "metadata": {"name": PurePath(file).stem}, **value}
        ignored = tuple(listed_keys(chart).ignored(document))
        return Manifest(file=file, group=file, document=document, root=root, value=named, ignored=ignored)
    return _unread(file, position, "no Kubernetes object", "apiVersion and kind")


def _first(text: str, pattern: re.Pattern[str]) -> Position | None:
    found = pattern.search(text)
    if found is None:
        return None
    before = text[: found.start()]
    return Position(line=before.count("\n") + 1, column=len(before) - before.rfind("\n"))


def _unread(file: str, position: Position | None, found: str, expected: str, *, failed: bool = False) -> Unread:
    problem = InputProblem(file=file, position=position, path="", found=found, expected=expected)
    return Unread(fate="failed" if failed else "skipped", problem=problem)
