"""Allowing: a finding that somebody accepts, with the reason, from an annotation, a comment or a file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import date
from typing import Annotated, Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.structure import Record, about
from chartgen.kernel.yaml_source import Step
from chartgen.lint.bundle import Bundle
from chartgen.lint.finding import Allowed, Finding
from chartgen.lint.manifest import Manifest, mapping
from chartgen.lint.paths import spelled

PREFIX: Final = "allow.chartgen/"
"""What the annotation and the comment start with."""
_COMMENT: Final = re.compile(r"#\s*allow\.chartgen/([a-z0-9-]+)(?::[ \t]*(.*?))?[ \t]*\r?$", re.MULTILINE)


class Allowance(Record, frozen=True, kw_only=True):
    """An entry of `allow` in the configuration file: for charts that are not yours to annotate."""

    policy: Annotated[str, about("The policy's id.")]
    kind: Annotated[str, about("The kind, as a pattern.", examples=["Deploy*"])] = "*"
    name: Annotated[str, about("The object's name, as a pattern.")] = "*"
    namespace: Annotated[str, about("The namespace, as a pattern.")] = "*"
    path: Annotated[str, about("The path inside the object, as a pattern.", examples=["spec.template.*"])] = "*"
    reason: Annotated[str, about("Why it is allowed.", min_length=3)]
    until: Annotated[date | None, about("The day after which it is allowed no longer.")] = None

    def covers(self, finding: Finding) -> bool:
        """Whether the entry speaks of the finding."""
        manifest = finding.manifest
        pairs = (
            (finding.policy.id, self.policy),
            (manifest.kind, self.kind),
            (manifest.name, self.name),
            (manifest.namespace, self.namespace),
            (spelled(finding.path), self.path),
        )
        return all(_matches(pattern, value) for value, pattern in pairs)


def _matches(pattern: str, value: str) -> bool:
    """Whether a pattern in which * stands for any text covers the value; brackets are those of paths."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), value, re.DOTALL) is not None


@dataclass(slots=True, kw_only=True)
class Mark:
    """One annotation or comment that allows something."""

    policy: str
    """The policy it names."""
    reason: str
    """The reason it gives; empty when it gives none."""
    manifest: Manifest
    """The object it stands on or in."""
    path: tuple[Step, ...] | None = None
    """The annotation's path; None for a comment."""
    line: int = 0
    """The comment's line."""
    used: bool = field(default=False)
    """Whether it covered a finding."""


def marks_of(bundle: Bundle) -> Iterator[Mark]:
    """Every annotation and comment of a bundle that allows something."""
    for manifest in bundle.manifests:
        yield from _annotations(manifest, manifest.metadata, ("metadata",))
    for site in bundle.pods:
        if site.shape.metadata is not None and site.manifest.kind != "Pod":
            where = (*site.path[:-1], "metadata")
            yield from _annotations(site.manifest, {"annotations": site.annotations}, where)
    yield from _comments(bundle.manifests)


def _annotations(manifest: Manifest, metadata: Any, where: tuple[Step, ...]) -> Iterator[Mark]:
    for key, value in mapping(mapping(metadata).get("annotations")).items():
        if key.startswith(PREFIX):
            yield Mark(
                policy=key.removeprefix(PREFIX),
                reason=value.strip() if isinstance(value, str) else "",
                manifest=manifest,
                path=(*where, "annotations", key),
            )


def _comments(manifests: Iterable[Manifest]) -> Iterator[Mark]:
    """Comments belong to the object whose document they stand in."""
    by_document: dict[int, list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        by_document[id(manifest.document.text)].append(manifest)
    for inside in by_document.values():
        text = inside[0].document.text
        if PREFIX not in text.content:
            continue
        for found in _COMMENT.finditer(text.content):
            owner = max(
                (one for one in inside if one.document.start <= found.start()),
                key=lambda one: one.document.start,
                default=inside[0],
            )
            line = text.position(found.start()).line
            yield Mark(policy=found[1], reason=(found[2] or "").strip(), manifest=owner, line=line)


def sort_out(
    findings: Iterable[Finding], marks: Sequence[Mark], allowances: Sequence[Allowance], today: date
) -> tuple[list[Finding], list[Allowed], set[int]]:
    """Tell apart what stands and what is allowed; the third part holds the indices of allowances used."""
    by_policy: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_policy[mark.policy].append(mark)
    standing: list[Finding] = []
    allowed: list[Allowed] = []
    used: set[int] = set()
    for finding in findings:
        own = next((mark for mark in by_policy[finding.policy.id] if _covers(mark, finding)), None)
        entry = _entry(finding, allowances, today)
        if own is not None:
            own.used = True
            by = f"comment on line {own.line}" if own.path is None else "annotation"
            allowed.append(Allowed(finding=finding, reason=own.reason, by=by))
        elif entry is not None:
            used.add(entry)
            allowed.append(Allowed(finding=finding, reason=allowances[entry].reason, by="configuration"))
        else:
            standing.append(finding)
    return standing, allowed, used


def _covers(mark: Mark, finding: Finding) -> bool:
    """Without a reason nothing is allowed. A comment speaks of its own line and the one below it."""
    if not mark.reason:
        return False
    if mark.path is not None:
        return finding.manifest.belongs_to(mark.manifest)
    return mark.manifest.file == finding.place.file and finding.place.position.line in {mark.line, mark.line + 1}


def _entry(finding: Finding, allowances: Sequence[Allowance], today: date) -> int | None:
    for index, entry in enumerate(allowances):
        if entry.covers(finding) and (entry.until is None or today <= entry.until):
            return index
    return None
