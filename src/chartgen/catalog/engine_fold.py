"""Releases fold: each file says only what changed, and the state after it is what the release knows.

Two shapes of group, and one rule for each. A *table* maps names to entries: an entry replaces the one before,
null takes it away. A *set* lists names that were added and removed. The folded history of all releases is kept
in one generated file, so that asking for one release does not read all the files before it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import from_json

TABLES: Final = ("flags", "metrics", "endpoints", "environment")
SETS: Final = (
    "architectures",
    "quantizations",
    "deprecated_quantizations",
    "kv_dtypes",
    "tool_parsers",
    "reasoning_parsers",
)
BY_HAND: Final = ("behaviour", "instead")
"""Tables that people write: how the release behaves by default, and what replaces a removed flag."""

State: TypeAlias = dict[str, dict[str, Any]]
"""Group -> name -> entry (True in a set)."""
Change: TypeAlias = Mapping[str, Any]
"""One release's file."""
HISTORY: Final = "history.json"
_VERSION: Final = re.compile(r"(\d+(?:\.\d+)*)(?:\.post(\d+))?")


def version(release: str) -> tuple[int, ...]:
    """A release as numbers that order: 0.8.5.post1 comes after 0.8.5 and before 0.8.6.

    Raises:
        ValueError: the text is no release of the form 0.18.1 or 0.8.5.post1.
    """
    match = _VERSION.fullmatch(release.removeprefix("v"))
    if match is None:
        message = f"not a vLLM release: {release!r}"
        raise ValueError(message)
    numbers = [int(part) for part in match[1].split(".")]
    return (*numbers, *[0] * (4 - len(numbers)), int(match[2] or 0))


def folder() -> Path:
    """Where the release files stand."""
    return catalog_data() / "engines"


def files(where: Path) -> list[Path]:
    """The release files, oldest first."""
    return sorted(where.glob("*.yaml"), key=lambda path: version(path.stem))


def changes(where: Path) -> list[dict[str, Any]]:
    """Every release's file as data, oldest first."""
    import yaml  # noqa: PLC0415 - the command line reads the history and never needs it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [yaml.load(path.read_text(encoding="utf-8"), Loader=loader) for path in files(where)]  # noqa: S506


def empty() -> State:
    """What is known before the first release: nothing."""
    return {group: {} for group in (*TABLES, *SETS, *BY_HAND)}


def fold(before: State, change: Change) -> State:
    """The state after a release, given the state before it."""
    after = {group: dict(entries) for group, entries in before.items()}
    for group in (*TABLES, *BY_HAND):
        for name, entry in (change.get(group) or {}).items():
            if entry is None and group in TABLES:
                after[group].pop(name, None)
            else:
                after[group][name] = entry
    for group in SETS:
        moved = change.get(group) or {}
        for name in moved.get("removed", ()):
            after[group].pop(name, None)
        after[group] |= dict.fromkeys(moved.get("added", ()), True)
    return after


def difference(before: State, after: State) -> dict[str, Any]:
    """What a release's file must say so that `before` folds into `after` (groups read from the wheel only)."""
    change: dict[str, Any] = {}
    for group in TABLES:
        old, new = before[group], after[group]
        moved = {name: entry for name, entry in new.items() if old.get(name, _ABSENT) != entry}
        moved |= {name: None for name in old if name not in new}
        if moved:
            change[group] = dict(sorted(moved.items()))
    for group in SETS:
        added = sorted(after[group].keys() - before[group].keys())
        removed = sorted(before[group].keys() - after[group].keys())
        if added or removed:
            change[group] = {**({"added": added} if added else {}), **({"removed": removed} if removed else {})}
    return change


def digest(state: State) -> str:
    """A fingerprint of what was read from a release's wheel: an edit by hand shows."""
    read = {group: state[group] if group in TABLES else sorted(state[group]) for group in (*TABLES, *SETS)}
    text = json.dumps(read, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


_ABSENT: Final = object()


def history(releases: Iterable[Change]) -> dict[str, Any]:
    """The folded past of every name: group -> name -> [release number, entry] wherever the entry changed."""
    names: list[dict[str, str]] = []
    past: dict[str, dict[str, list[list[Any]]]] = {group: {} for group in (*TABLES, *SETS, *BY_HAND)}
    state = empty()
    for number, change in enumerate(releases):
        names.append({key: str(change[key]) for key in ("release", "source", "read")})
        after = fold(state, change)
        for group, entries in after.items():
            for name in sorted({*entries, *state[group]}):
                entry = entries.get(name)
                if state[group].get(name, _ABSENT) != entries.get(name, _ABSENT):
                    past[group].setdefault(name, []).append([number, entry])
        state = after
    return {"releases": names, **past}


def history_text(past: Mapping[str, Any]) -> str:
    """The history as committed: JSON with one name a line, so that a review reads as a table."""
    parts = []
    for group, entries in past.items():
        if isinstance(entries, list):
            lines = [f"  {json.dumps(entry)}" for entry in entries]
            parts.append(f"{json.dumps(group)}: [\n" + ",\n".join(lines) + "\n]")
        else:
            lines = [
                f"  {json.dumps(name)}: {json.dumps(steps, ensure_ascii=False)}"
                for name, steps in sorted(entries.items())
            ]
            parts.append(f"{json.dumps(group)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@cache
def committed() -> dict[str, Any]:
    """The committed history."""
    past: dict[str, Any] = from_json((folder() / HISTORY).read_bytes())
    return past


def at(past: Mapping[str, Any], number: int) -> State:
    """The state of one release out of the history."""
    state = empty()
    for group, entries in state.items():
        for name, steps in past[group].items():
            last = None
            for since, entry in steps:
                if since > number:
                    break
                last = entry
            if last is not None:
                entries[name] = last
    return state


def last_seen(past: Mapping[str, Any], group: str, number: int) -> dict[str, int]:
    """Names that are gone at a release, each with the number of the first release without it."""
    gone = {}
    for name, steps in past[group].items():
        known = [step for step in steps if step[0] <= number]
        if known and known[-1][1] is None:
            gone[name] = known[-1][0]
    return gone
