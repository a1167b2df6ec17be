"""What a YAML parser complains of, rephrased so that it completes "found …"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What a YAML text never holds: control characters, halves of surrogate pairs (YAML 1.2.2, c-printable)."""

_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"(?:did|could) not find (?:the )?(?:expected )?(.+)"), lambda match: f"no {match[1]}"),
    (re.compile(r"expected (.+), but (?:found|got) (.+)"), lambda match: f"{match[2]} where {match[1]} is needed"),
    (re.compile(r"(.+) are not allowed(?: in this context| here)?"), lambda match: f"{match[1]} where none may be"),
    (re.compile(r"found (.+)"), lambda match: _with_article(match[1])),
)


def yaml_fault(problem: str) -> str:
    """A parser's complaint as a noun: "did not find expected ']'" becomes "no ']'"."""
    for pattern, rephrase in _RULES:
        match = pattern.fullmatch(problem)
        if match is not None:
            return rephrase(match)
    return f"something that is no YAML ({problem})"


def _with_article(noun: str) -> str:
    if re.match(r"(?:an?|the) |['\"<]", noun):
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
