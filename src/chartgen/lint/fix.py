"""Safe fixes: edits as splices of the text, so that comments and layout stay what they are.

A policy states the one right answer. It becomes a splice only where the text is block or flow YAML that the edit can be
made in without moving anything else; elsewhere the finding keeps its words and nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chartgen.kernel.scalars import scalar
from chartgen.kernel.yaml_source import Document, Step
from chartgen.lint.finding import Finding, Splice
from chartgen.lint.manifest import Manifest


def setting(manifest: Manifest, path: Sequence[Step], value: str) -> Splice | None:
    """The edit that makes the entry at `path` say `value`; None where it cannot be made safely."""
    if manifest.origin is not None or not path:
        return None
    document, whole = manifest.document, manifest.whole(path)
    offsets = document.offsets(whole)
    if offsets is not None:
        scalar_there = not isinstance(_at(document.value, whole), dict | list)
        return _replaced(document, offsets[1], offsets[2], value) if scalar_there else None
    return _added(document, whole, value)


def removal(manifest: Manifest, path: Sequence[Step]) -> Splice | None:
    """The edit that removes the entry at `path` with its line; None where other things share the line."""
    if manifest.origin is not None:
        return None
    document = manifest.document
    offsets = document.offsets(manifest.whole(path))
    if offsets is None:
        return None
    text = document.text.content
    start = text.rfind("\n", 0, offsets[0]) + 1
    end = text.find("\n", offsets[2])
    end = len(text) if end < 0 else end + 1
    before, after = text[start : offsets[0]], text[offsets[2] : end].partition("#")[0]
    if before.strip() or after.strip():
        return None
    return Splice(start=start, end=end, text="")


def _replaced(document: Document, start: int, end: int, value: str) -> Splice | None:
    old = document.text.content[start:end]
    if not old or "\n" in old.rstrip("\n") or old[:1] in "|>&*!":
        return None
    return Splice(start=start, end=start + len(old.rstrip()), text=value)


def _added(document: Document, path: Sequence[Step], value: str) -> Splice | None:
    """A new last entry of the nearest mapping that exists, written in that mapping's own style."""
    parent = list(path)
    missing: list[str] = []
    while parent:
        step = parent.pop()
        if not isinstance(step, str):
            return None
        missing.insert(0, step)
        if not parent or document.offsets(parent) is not None:
            break
    holder = _at(document.value, parent)
    if not isinstance(holder, dict) or not holder:
        return None
    spans = document.spans.get(id(holder), {})
    last = max(spans.values(), key=lambda span: span[2], default=None)
    first = min(spans.values(), key=lambda span: span[0], default=None)
    if last is None or first is None:
        return None
    text = document.text.content
    if _is_flow(text, parent, document):
        inner = value
        for step in reversed(missing[1:]):
            inner = f"{{{step}: {inner}}}"
        return Splice(start=last[2], end=last[2], text=f", {missing[0]}: {inner}")
    indent = document.text.mark(first[0])[1]
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{' ' * (indent + 2 * depth)}{step}:" for depth, step in enumerate(missing)]
    lines[-1] += f" {value}"
    # The new entry goes in front of the first one: what follows a last entry may be a comment of the next thing.
    start = first[0]
    return Splice(start=start, end=start, text=newline.join(lines).lstrip() + newline + " " * indent)


def _is_flow(text: str, parent: Sequence[Step], document: Document) -> bool:
    offsets = document.offsets(parent) if parent else None
    start = offsets[1] if offsets else document.start
    return text[start : start + 1] == "{"


def _at(value: Any, path: Sequence[Step]) -> Any:
    for step in path:
        value = value[step]
    return value


def quoted(text: str) -> str:
    """A value as YAML that reads back as the same text."""
    return text if isinstance(scalar(text), str) and text.replace("-", "").replace("_", "").isalnum() else f'"{text}"'


def apply(text: str, splices: Iterable[Splice]) -> str:
    """The text after all edits; of two that touch the same place only the first is made."""
    result, place = [], 0
    for splice in sorted(set(splices), key=lambda one: (one.start, one.end)):
        if splice.start < place:
            continue
        result += [text[place : splice.start], splice.text]
        place = splice.end
    return "".join([*result, text[place:]])


def fixed_texts(findings: Iterable[Finding]) -> Mapping[str, tuple[str, str]]:
    """By file: the text before and after every safe edit."""
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.edit is not None:
            by_file[finding.manifest.file].append(finding)
    texts = {}
    for file, members in by_file.items():
        before = members[0].manifest.document.text.content
        texts[file] = before, apply(before, [one.edit for one in members if one.edit])
    return texts
