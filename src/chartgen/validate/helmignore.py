"""The rules of a chart's `.helmignore`, as Helm reads them: glob patterns, one a line, no `**`."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from chartgen.kernel.dataclass import dataclass

_ALWAYS: Final = "templates/.?*"
"""What Helm leaves out of every chart."""


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    whole_path: bool
    folders_only: bool
    keep: bool


class Ignored:
    """Which files of a chart Helm does not read."""

    def __init__(self, text: str) -> None:
        lines = (line.strip() for line in [*text.removeprefix("\ufeff").splitlines(), _ALWAYS])
        self._rules = [_rule(line) for line in lines if line and not line.startswith("#")]

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether the rules leave out the file or folder at `path`, a path inside the chart."""
        name = PurePosixPath(path).name
        for rule in self._rules:
            fits = is_folder or not rule.folders_only
            matched = fits and rule.pattern.fullmatch(path if rule.whole_path else name) is not None
            if matched != rule.keep:  # a `!` rule leaves out what it does not match: Helm's reading, not Git's
                return True
        return False


def _rule(line: str) -> _Rule:
    keep = line.startswith("!")
    pattern = line.removeprefix("!")
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    return _Rule(
        pattern=_glob(pattern.removeprefix("/")),
        whole_path="/" in pattern,
        folders_only=folders_only,
        keep=keep,
    )


def _glob(pattern: str) -> re.Pattern[str]:
    """Go's filepath.Match: `*` and `?` stay inside one folder, `[…]` is a class."""
    text, position = "", 0
    while position < len(pattern):
        character = pattern[position]
        end = pattern.find("]", position + 2)
        if character == "[" and end > 0:
            text += f"[{pattern[position + 1 : end]}]"
            position = end
        else:
            text += {"*": "[^/]*", "?": "[^/]"}.get(character, re.escape(character))
        position += 1
    return re.compile(text)
