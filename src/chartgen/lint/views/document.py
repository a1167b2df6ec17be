"""The document view: what the text of an object says before anybody asks what it means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.allow import Mark
from chartgen.lint.manifest import IgnoredKey, Manifest
from chartgen.lint.schemas import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateKey:
    """A key that stands twice in one mapping."""

    key: str
    """The key."""
    at: tuple[Step, ...]
    """Its path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceMark:
    """An annotation or comment that allows a policy."""

    policy: str
    """The policy it names."""
    reason: str
    """Its reason; empty when it gives none."""
    used: bool | None
    """Whether it covered a finding; null when the policy was not asked."""
    known: bool
    """Whether there is such a policy."""
    line: int | None
    """The line, for a comment."""
    at: tuple[Step, ...]
    """Its path, for an annotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """The text of one object."""

    duplicates: tuple[DuplicateKey, ...]
    """Keys written twice: the last one wins."""
    faults: tuple[Fault, ...]
    """What the API server would refuse or take otherwise."""
    allowances: tuple[AllowanceMark, ...]
    """What is allowed in it."""
    ignored: tuple[IgnoredKey, ...]
    """For a values file: the keys that its chart does not read."""


def document_view(
    manifest: Manifest,
    found: tuple[Fault, ...],
    marks: Iterable[Mark],
    asked: frozenset[str],
    every: frozenset[str],
) -> DocumentView:
    """The view of one object's text; `asked` and `every` are the policies of this run and of the library."""
    return DocumentView(
        duplicates=tuple(
            DuplicateKey(key=one.key, at=(*one.path[len(manifest.root) :], one.key))
            for one in manifest.document.duplicates
            if _inside(one.path, manifest.root)
        ),
        faults=found,
        allowances=tuple(
            AllowanceMark(
                policy=mark.policy,
                reason=mark.reason,
                used=mark.used if mark.policy in asked else None,
                known=mark.policy in every,
                line=mark.line or None,
                at=mark.path or (),
            )
            for mark in marks
        ),
        ignored=manifest.ignored,
    )


def _inside(path: Sequence[Step], root: Sequence[Step]) -> bool:
    return tuple(path[: len(root)]) == tuple(root)
