"""Errors that are somebody's fault other than ours. They hold data; `report` makes the text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

from chartgen.kernel.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Position:
    """A place in a text file, counted from one as editors do."""

    line: int
    """Line, from 1."""
    column: int
    """Column, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem:
    """One thing wrong with an input: where it stands, what was found, what would do."""

    file: str
    """The file as the user named it, or a word such as `--set` for an input that is no file."""
    position: Position | None
    """Where in the file; None when the whole file is meant."""
    path: str
    """The key, dotted from the root: cluster.kubernetes; empty for the whole document."""
    found: str
    """What stands there, in the user's spelling."""
    expected: str
    """What would do."""
    nearest: str | None = None
    """The nearest known name, when a name was not known."""


class InputError(Exception):
    """The input is at fault. Carries every problem found, in file order. Exit code 2."""

    def __init__(self, problems: Iterable[InputProblem]) -> None:
        self.problems: tuple[InputProblem, ...] = tuple(problems)
        super().__init__(f"{len(self.problems)} problem(s) in the input: {self.problems[:3]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One option that was tried and why it fell."""

    option: str
    """The option in the user's terms: 2 x H100, fp8 weights."""
    because: str
    """Why it does not do, with the missing amount: 3.1 GiB short of one 8k request."""


class Infeasible(Exception):  # noqa: N818 - the design's word for it, and it reads as a sentence
    """No plan fits. Carries what is missing, what was tried, and the nearest thing that fits. Exit code 3."""

    def __init__(self, *, subject: str, missing: str, tried: Sequence[Attempt], nearest: str | None) -> None:
        self.subject = subject
        """What was asked for: Llama-3.3-70B on 1 x L4, context 8k."""
        self.missing = missing
        """What is missing, with GiB named where memory is."""
        self.tried = tuple(tried)
        self.nearest = nearest
        """The nearest thing that fits, ready to be written into the profile; None when nothing does."""
        super().__init__(f"{subject}: {missing}")


_LONGEST: Final = 2000
"""Characters of another program's words that somebody reads: its recursion error alone can be 90 000."""


def excerpt(text: str) -> str:
    """Another program's words; of very long ones the beginning and the end, where the cause mostly stands."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} […{len(text) - 2 * half} characters…] {text[-half:]}"


_CLOSE: Final = 0.65
"""Share of characters that two names must have in common; three of `fp8` and `fp9` have two thirds."""
_CLOSE_BEGINNING: Final = 0.8
"""The same for the beginning of a longer name, which more names resemble by chance."""
_BEGINNING: Final = 3
"""Characters from which on the beginning of a name says which name is meant."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, ignoring case and punctuation; None when nothing is really close.

    A name that begins with what was written comes first, then one that resembles it, then one whose beginning does.
    """

    def plain(text: str) -> str:
        return "".join(character for character in text.lower() if character.isalnum())

    by_plain = {plain(candidate): candidate for candidate in known}
    sought = plain(name)
    if not sought:
        return None
    longer = [candidate for candidate in by_plain if candidate.startswith(sought)]
    if longer and len(sought) >= _BEGINNING:
        return by_plain[min(longer, key=len)]
    close = difflib.get_close_matches(sought, by_plain, n=1, cutoff=_CLOSE)
    if close:
        return by_plain[close[0]]
    by_beginning = {candidate[: len(sought)]: candidate for candidate in sorted(by_plain, key=len, reverse=True)}
    close = difflib.get_close_matches(sought, by_beginning, n=1, cutoff=_CLOSE_BEGINNING)
    return by_plain[by_beginning[close[0]]] if close else None


class UnknownName(LookupError):  # noqa: N818 - it is caught where the place of the name is known
    """A name that the catalog does not have. Whoever knows where it was written turns it into a problem."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str | None = None) -> None:
        self.kind = kind
        """What was looked up: model, GPU, vLLM release."""
        self.name = name
        self.known: tuple[str, ...] = tuple(known)
        """Every name that would have done."""
        self.nearest = nearest_name(name, self.known)
        self.hint = hint
        """What else would do, such as a path to a config.json."""
        super().__init__(f"unknown {kind}: {name!r}")
