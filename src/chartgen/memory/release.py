"""A Release of the engine as text, and how releases are ordered."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cache

from chartgen.kernel.dataclass import dataclass

_NUMBER = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?P<rest>.*)")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Release:
    """A release of the engine, known by its three numbers."""

    number: tuple[int, int, int]
    """Major, minor, patch."""
    asked: str = field(compare=False)
    """What was asked for."""

    def __str__(self) -> str:
        """The release as people write it."""
        return ".".join(map(str, self.number))

    @property
    def note(self) -> str:
        """For a build that is no plain release: what it stands for; empty otherwise."""
        return "" if self.asked.removeprefix("v") == str(self) else f"{self.asked} stands for release {self}"


@cache
def release(text: str) -> Release:
    """Read a release; a development build or a vendor's build stands for the release it leads to.

    Raises:
        ValueError: the text names no release.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or not re.fullmatch(r"(?:[.\-+]?[a-z0-9_]+)*", match["rest"], flags=re.IGNORECASE):
        msg = f"not a release of the engine: {text!r}; 0.33.0 would do"
        raise ValueError(msg)
    return Release(number=(int(match[1]), int(match[2]), int(match[3] or 0)), asked=text.strip())
