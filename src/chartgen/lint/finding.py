"""What linting says: findings, what was allowed, what could not be told, and the counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step, Text
from chartgen.lint.manifest import Manifest, Place, Unread
from chartgen.lint.paths import spelled
from chartgen.policy.types import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A safe edit of an object, before it is known how the text is to be changed."""

    path: tuple[Step, ...]
    """The entry, from the object's root."""
    value: str | None
    """What it shall say, as YAML; None to remove it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a policy found: a path inside an object, and a sentence."""

    path: tuple[Step, ...]
    """Where, from the object's root."""
    message: str
    """What is wrong, with the offending value in it."""
    line: int | None = None
    """The line of the file, for what stands in a comment and has no path."""
    change: Change | None = None
    """The one right answer, where the policy has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem, placed: what a reader sees."""

    policy: Policy
    """The policy that speaks."""
    manifest: Manifest
    """The object it speaks of."""
    path: tuple[Step, ...]
    """Where in the object, from its root."""
    message: str
    """What is wrong, with the offending value in it."""
    place: Place
    """The file, line and column."""
    edit: Splice | None = None
    """The safe edit that would mend it, where there is one right answer."""

    @property
    def fingerprint(self) -> str:
        """What stays the same when lines move: policy, object and path."""
        manifest = self.manifest
        parts = (self.policy.id, manifest.kind, manifest.namespace, manifest.name, spelled(self.path))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """An edit of a text: what stands between two offsets is replaced, and nothing else is touched."""

    start: int
    """The character offset at which the edit starts."""
    end: int
    """The offset at which it ends."""
    text: str
    """What stands there afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A finding that somebody allowed, with the reason given."""

    finding: Finding
    """What was found."""
    reason: str
    """Why it is allowed, in the words of whoever allowed it."""
    by: str
    """Where that is written: annotation, comment, configuration or baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """A question that the manifests cannot answer."""

    policy: Policy
    """The policy that would have to know."""
    manifest: Manifest
    """The object it asks about."""
    because: str
    """What is not known."""
    run: str
    """What to run, or to look at, to find out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stumble:
    """A policy that failed while it judged: our fault or the policy author's, never a pass."""

    policy: Policy
    """The policy."""
    manifest: Manifest
    """The object it was judging."""
    key: str
    """The key of the policy that failed: require or message."""
    text: str
    """The engine's words."""
    place: Place | None = None
    """Where the key is written, when the policy is the user's own: then it is not our fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much was read and judged."""

    files: int
    """Files read, rendered charts counted as one."""
    parsed: int
    """Objects that were judged."""
    skipped: int
    """Documents with nothing to judge in them."""
    failed: int
    """Documents that could not be read."""
    policies: int
    """Policies that were asked."""
    known: int
    """Findings that are not told because the baseline holds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that one call of the linter has to say."""

    findings: tuple[Finding, ...]
    """What is wrong, in the order of files and lines."""
    allowed: tuple[Allowed, ...]
    """What was found and allowed."""
    untold: tuple[Untold, ...]
    """What could not be told."""
    stumbles: tuple[Stumble, ...]
    """Policies that failed."""
    unread: tuple[Unread, ...]
    """What was not judged."""
    notes: tuple[str, ...]
    """What the reader should know besides."""
    counts: Counts
    """How much was read and judged."""
    texts: Mapping[str, Text]
    """The text of each file that a finding points into, for code frames."""
