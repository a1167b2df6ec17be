"""Release files: what a release changed as reviewed YAML, and the history folded from all of them."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from chartgen.catalog import engine_fold
from chartgen.catalog.engine_fold import HISTORY, SETS, TABLES, State
from engine_reader.facts import Facts

_BY_HAND: Final = "# By hand"
_HEAD: Final = """\
# What vLLM {release} changed{since}. Written by scripts/engine_facts from the wheel; a null says gone.
release: {release}
source: {wheel}
read: "{day}"
digest: {digest}
"""
_HEAD_LINES: Final = len(_HEAD.splitlines())
_NEVER: Final = 1 << 30
"""A width at which no line is broken."""
_EMPTY_HAND: Final = f"""
{_BY_HAND}: what replaces each removed flag, and how the release behaves where no flag is given.
"""


def state_of(facts: Facts) -> State:
    """Facts in the shape that releases fold in."""
    state = engine_fold.empty()
    for group in TABLES:
        state[group] = dict(facts[group])
    for group in SETS:
        state[group] = dict.fromkeys(facts[group], True)
    return state


def _states(folder: Path) -> list[tuple[str, State]]:
    """Every committed release with the state after it, oldest first."""
    state, found = engine_fold.empty(), []
    for change in engine_fold.changes(folder):
        state = engine_fold.fold(state, change)
        found.append((str(change["release"]), state))
    return found


def write(release: str, state: State, folder: Path, wheel: str, day: dt.date) -> None:
    """Write a release's file, and again the file after it: that one differs from this release now."""
    known = _states(folder)
    before = [pair for pair in known if engine_fold.version(pair[0]) < engine_fold.version(release)]
    after = [pair for pair in known if engine_fold.version(pair[0]) > engine_fold.version(release)]
    base = before[-1] if before else ("", engine_fold.empty())
    _write_file(
        release,
        base,
        state,
        folder,
        _HEAD.format(release=release, since=_since(base[0]), wheel=wheel, day=day, digest=engine_fold.digest(state)),
    )
    if after:
        name, following = after[0]
        old = (folder / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        head = (
            "\n".join([_HEAD.splitlines()[0].format(release=name, since=_since(release)), *old[1:_HEAD_LINES]]) + "\n"
        )
        _write_file(name, (release, state), following, folder, head)


def _since(release: str) -> str:
    return f" since {release}" if release else ""


def _write_file(release: str, base: tuple[str, State], state: State, folder: Path, head: str) -> None:
    path = folder / f"{release}.yaml"
    hand = _EMPTY_HAND
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        hand = "\n" + text[text.index(_BY_HAND) :]
    change = engine_fold.difference(base[1], state)
    body = _dump(change) if change else ""
    path.write_text(head + body + hand, encoding="utf-8")
    removed = [name for name, entry in change.get("flags", {}).items() if entry is None]
    written = yaml.safe_load(hand) or {}
    for name in removed:
        if name not in written.get("instead", {}):
            print(f"{path}: say under `instead` what replaces {name}", file=sys.stderr)


class _Dumper(yaml.SafeDumper):
    """Writes every value out: no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _dump(change: dict[str, Any]) -> str:
    """The change with one name a line, so that a review reads as a table."""
    lines = []
    for group, entries in change.items():
        lines.append(f"{group}:")
        lines += [f"  {_flow(name)}: {_flow(entry)}" for name, entry in entries.items()]
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=_NEVER, default_flow_style=True)
    return text.removesuffix("\n").removesuffix("\n...")


def write_history(folder: Path) -> None:
    """Fold every release file into the history."""
    text = engine_fold.history_text(engine_fold.history(engine_fold.changes(folder)))
    (folder / HISTORY).write_text(text, encoding="utf-8")


def compare(release: str, state: State, folder: Path) -> bool:
    """Whether a fresh reading differs from what is committed; every difference is printed."""
    committed = dict(_states(folder)).get(release)
    if committed is None:
        print(f"{release}: not catalogued")
        return True
    change = engine_fold.difference(committed, state)
    for group, entries in change.items():
        for name, entry in entries.items():
            print(f"{release}: {group}: {name}: committed {committed[group].get(name)!r}, wheel {entry!r}")
    if not change:
        counts = ", ".join(f"{len(state[group])} {group.replace('_', ' ')}" for group in (*TABLES, *SETS))
        print(f"{release}: equal ({counts})")
    return bool(change)
