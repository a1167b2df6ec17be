"""What the user gives a chart: files with -f, and --set as Helm reads it."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import yaml

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem
from chartgen.kernel.scalars import scalar, whole_number
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import Document, Step, read, refusal

_PART: Final = re.compile(r"((?:[^.\[\\]|\\.)+)|\[(\d+)\]")
_LARGEST_INDEX: Final = 65536
"""helm.sh/helm pkg/strvals, MaxIndex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenValues:
    """What the user gives a chart."""

    merged: Mapping[str, Any] = field(default_factory=dict)
    """The values of all files and settings; later ones win, mappings are merged."""
    documents: Sequence[tuple[str, Document]] = ()
    """The same with positions, each by its name: every file, and what all settings say together."""


def given_values(files: Iterable[Path], sets: Iterable[str]) -> GivenValues:
    """Read files and settings.

    Raises:
        InputError: a file cannot be read, or a setting is none.
    """
    documents = [(str(path), document) for path in files for document in _documents(path)]
    merged: dict[str, Any] = {}
    for _, document in documents:
        merged = merge(merged, document.value)
    settings = _with_settings({}, sets)
    if settings:
        (document,) = read(yaml.safe_dump(settings, sort_keys=False), "--set")
        documents.append(("--set", document))
    return GivenValues(merged=_with_settings(copy.deepcopy(merged), sets), documents=documents)


def _documents(path: Path) -> Iterator[Document]:
    for document in read(read_text(path), str(path)):
        if document.value is not None and not isinstance(document.value, dict):
            raise refusal(str(path), None, "no mapping", "a mapping of values")
        if document.value is not None:
            yield document


def _with_settings(tree: dict[str, Any], sets: Iterable[str]) -> dict[str, Any]:
    """A tree that is nobody else's, with the settings in it."""
    for setting in sets:
        for one in re.split(r"(?<!\\),", setting):
            steps, value = _read_setting(one)
            _set(tree, steps, value)
    return tree


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two value trees as Helm merges them: the second wins, mappings are merged key by key."""
    merged = dict(first)
    for key, value in second.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _read_setting(text: str) -> tuple[list[Step], Any]:
    name, equals, value = text.partition("=")
    path: list[Step] = [
        _index(text, index) if index else word.replace("\\.", ".") for word, index in _PART.findall(name.strip())
    ]
    if not equals or not path or isinstance(path[0], int):
        problem = InputProblem(file="--set", position=None, path="", found=text, expected="key.path=value")
        raise InputError([problem])
    return path, scalar(value.replace("\\,", ","))


def _index(setting: str, digits: str) -> int:
    index = whole_number(digits)
    if index is None or index > _LARGEST_INDEX:
        expected = f"an index of at most {_LARGEST_INDEX}, as Helm takes it"
        raise InputError([InputProblem(file="--set", position=None, path="", found=setting, expected=expected)])
    return index


def _set(tree: dict[str, Any], path: list[Step], value: Any) -> None:
    node: Any = tree
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        node = _entry(node, step, empty)
    if isinstance(node, list) and isinstance(path[-1], int):
        _entry(node, path[-1], None)
    node[path[-1]] = value


def _entry(node: Any, step: Step, empty: Any) -> Any:
    """The entry at a step, made where it is missing."""
    if isinstance(step, int):
        node.extend([None] * (step + 1 - len(node)))
        if node[step] is None:
            node[step] = empty
        return node[step]
    if not isinstance(node.get(step), dict | list):
        node[step] = empty
    return node[step]
