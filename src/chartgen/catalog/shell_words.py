"""The simple commands of a shell script, as far as reading tells: quoting, continuations, known variables.

Nothing is run. What only running would tell (command substitution, an unknown variable) stays in the word as it
was written, and the word says so. Only what start scripts of containers use is understood; conditions and loops
are read straight through, as if every branch ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from chartgen.kernel.dataclass import dataclass

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_DEFAULT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::?-(.*))?", re.DOTALL)
_OPERATOR: Final = re.compile(r"&&|\|\||;;|[;&|()\n]")
_REDIRECTION: Final = re.compile(r"\d*(?:<<-?|>>|>&|<&|>\||[<>])")
_KEYWORDS: Final = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word after quoting and expansion."""

    text: str
    """The word; an unresolved part stands in it as written."""
    line: int
    """Line in the script, from 0."""
    unresolved: tuple[str, ...] = ()
    """What only running would tell: names of variables, or the text of a substitution."""
    splits: bool = False
    """An unresolved part stands outside quotes: it may be no word, one or many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command."""

    words: tuple[Word, ...]
    """Its words, the program first."""
    variables: Mapping[str, str | None]
    """The environment it runs in, as far as known: what was passed in, assignments and exports before it."""


def commands(script: str, variables: Mapping[str, str | None]) -> Iterator[Command]:
    """Every simple command of `script` in order; a variable whose value is None is set and not known."""
    known = dict(variables)
    for words in _Scanner(script, known).simple_commands():
        local = dict(known)
        rest = list(words)
        if rest and rest[0].text in {"export", "set", "declare", "readonly"}:
            for word in rest[1:]:
                _assign(word, known)
            continue
        while rest and _ASSIGNMENT.fullmatch(rest[0].text):
            _assign(rest.pop(0), local)
        if rest:
            yield Command(words=tuple(rest), variables=local)
        else:
            known.update(local)


def _assign(word: Word, variables: dict[str, str | None]) -> None:
    match = _ASSIGNMENT.fullmatch(word.text)
    if match:
        variables[match[1]] = None if word.unresolved else match[2]


class _Scanner:
    def __init__(self, script: str, variables: Mapping[str, str | None]) -> None:
        self.text = script
        self.variables = variables
        self.at = 0
        self.line = 0
        self.heredocs: list[str] = []

    def simple_commands(self) -> Iterator[list[Word]]:  # noqa: C901 - one case a kind of character
        words: list[Word] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\r":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
                self.line += 1
            elif character == "#":
                self._skip_to("\n")
            elif redirection := _REDIRECTION.match(self.text, self.at):
                self.at = redirection.end()
                target = self._one_word()
                if redirection[0].lstrip("0123456789").startswith("<<"):
                    self.heredocs.append(target)
            elif operator := _OPERATOR.match(self.text, self.at):
                self.at = operator.end()
                if words:
                    yield words
                    words = []
                if operator[0] == "\n":
                    self.line += 1
                    self._skip_heredocs()
            else:
                found = self._words()
                if words or found[0].text not in _KEYWORDS:
                    words += found
        if words:
            yield words

    def _skip_to(self, end: str) -> None:
        found = self.text.find(end, self.at)
        self.at = len(self.text) if found < 0 else found

    def _skip_heredocs(self) -> None:
        for end in self.heredocs:
            while self.at < len(self.text):
                start = self.at
                self._skip_to("\n")
                line = self.text[start : self.at].strip("\t")
                self.at += 1
                self.line += 1
                if line == end:
                    break
        self.heredocs.clear()

    def _one_word(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        return self._words()[0].text if self.at < len(self.text) else ""

    def _words(self) -> list[Word]:
        """The word that starts here; more than one when an unquoted variable holds spaces."""
        pieces: list[tuple[str, bool]] = []
        unresolved: list[str] = []
        line, splits = self.line, False
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\r\n;&|()<>":
                break
            if character == "'":
                pieces.append((self._single(), True))
            elif character == '"':
                quoted, inside = self._double()
                pieces.append((quoted, True))
                unresolved += inside
            elif character == "\\":
                pieces.append((self._escape(), True))
            elif character in "$`":
                value, inside = self._expansion()
                pieces.append((value, bool(inside)))
                unresolved += inside
                splits |= bool(inside)
            else:
                pieces.append((character, True))
                self.at += 1
        return _split(pieces, line, tuple(unresolved), splits=splits)

    def _single(self) -> str:
        start = self.at + 1
        self.at = start
        self._skip_to("'")
        inner = self.text[start : self.at]
        self.line += inner.count("\n")
        self.at += 1
        return inner

    def _escape(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if following == "\n":
            self.line += 1
            return ""
        return following

    def _double(self) -> tuple[str, list[str]]:
        self.at += 1
        parts, unresolved = [], []
        while self.at < len(self.text) and self.text[self.at] != '"':
            character = self.text[self.at]
            if character == "\\" and self.text[self.at + 1 : self.at + 2] in {'"', "\\", "$", "`", "\n"}:
                parts.append(self._escape())
            elif character in "$`":
                value, inside = self._expansion()
                parts.append(value)
                unresolved += inside
            else:
                self.line += character == "\n"
                parts.append(character)
                self.at += 1
        self.at += 1
        return "".join(parts), unresolved

    def _expansion(self) -> tuple[str, list[str]]:
        """The value of a variable, or the text and name of what is not known."""
        start = self.at
        if self.text[start] == "`":
            self.at += 1
            self._skip_to("`")
            self.at += 1
            return self.text[start : self.at], [self.text[start : self.at]]
        if self.text.startswith("$(", start):
            self._balanced("(", ")")
            return self.text[start : self.at], [self.text[start : self.at]]
        if self.text.startswith("${", start):
            self._balanced("{", "}")
            match = _DEFAULT.fullmatch(self.text[start + 2 : self.at - 1])
            if match is None:
                return self.text[start : self.at], [self.text[start : self.at]]
            return self._variable(match[1], match[2], self.text[start : self.at])
        name = _NAME.match(self.text, start + 1)
        if name is None:
            self.at += 2
            return self.text[start : self.at], [self.text[start : self.at]] if self.at - start > 1 else []
        self.at = name.end()
        return self._variable(name[0], None, self.text[start : self.at])

    def _variable(self, name: str, default: str | None, written: str) -> tuple[str, list[str]]:
        if name in self.variables:
            value = self.variables[name]
            return (written, [name]) if value is None else (value or default or "", [])
        if default is not None and "$" not in default:
            return default, []
        return written, [name]

    def _balanced(self, opening: str, closing: str) -> None:
        depth = 0
        while self.at < len(self.text):
            character = self.text[self.at]
            depth += (character == opening) - (character == closing)
            self.line += character == "\n"
            self.at += 1
            if depth == 0 and character == closing:
                return


def _split(pieces: list[tuple[str, bool]], line: int, unresolved: tuple[str, ...], *, splits: bool) -> list[Word]:
    """Join pieces to words; a piece that is not whole (an unquoted value) breaks at its spaces."""
    texts = [""]
    for text, whole in pieces:
        if whole:
            texts[-1] += text
            continue
        first, *more = re.split(r"\s+", text)
        texts[-1] += first
        texts += more
    return [
        Word(text=text, line=line, unresolved=unresolved, splits=splits)
        for text in (texts if len(texts) == 1 else filter(None, texts))
    ] or [Word(text="", line=line)]
