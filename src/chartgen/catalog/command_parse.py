"""The engine's argument parser, as far as a reader needs it: argparse with the release's flags.

What counts: underscores for dashes, unique prefixes, `--flag=value`, `--flag value`, several words for one flag,
JSON given by dotted keys (--compilation-config.mode 3), -O3, booleans and their negations. A flag of another
release is read with that release's shape, so that its value does not look like a stray word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from chartgen.catalog import engine_fold
from chartgen.catalog.command_types import Argument, Place, Problem, ProblemKind, Unresolved, Value
from chartgen.catalog.command_values import convert
from chartgen.catalog.engine_types import Flag
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json
from chartgen.kernel.errors import nearest_name
from chartgen.kernel.scalars import whole_number
from chartgen.kernel.structure import build

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine

_NO_VALUE: Final = frozenset({"switch", "boolean"})
_NEGATIVE_NUMBER: Final = re.compile(r"-\d+(\.\d*)?|-\.\d+")
_LEVEL: Final = re.compile(r"-O=?(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word of the command line."""

    text: str
    place: Place
    unresolved: tuple[str, ...] = ()

    @property
    def is_option(self) -> bool:
        """Whether the parser takes it for the name of an option."""
        text = self.text
        return text.startswith("-") and len(text) > 1 and " " not in text and not _NEGATIVE_NUMBER.fullmatch(text)


@dataclass(slots=True)
class Parsed:
    """What parsing found."""

    positional: list[Token] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    flag: Flag
    negated: bool
    how: str
    ours: bool
    """Whether the release itself has the flag."""


def parse(tokens: Sequence[Token], engine: Engine) -> Parsed:
    """Parse the words after the program."""
    return _Parser(tokens, engine).run()


class _Parser:
    def __init__(self, tokens: Sequence[Token], engine: Engine) -> None:
        self.tokens = list(tokens)
        self.engine = engine
        self.at = 0
        self.found = Parsed()

    def run(self) -> Parsed:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if not token.is_option:
                self.found.positional.append(token)
            elif token.text != "--":
                self._option(token)
        return self.found

    def _option(self, token: Token) -> None:
        level = _LEVEL.fullmatch(token.text)
        if level and not token.text.startswith("--"):
            self._optimization(token, level[1])
            return
        name, equals, attached = token.text.partition("=")
        name, dot, path = name.partition(".")
        match = self._match(name, token)
        if match is None:
            self._swallow_values(equals)
            return
        if dot:
            self._dotted(token, match, path, attached if equals else None)
        elif match.flag.type in _NO_VALUE:
            self._bare(token, match, attached if equals else None)
        else:
            self._valued(token, match, attached if equals else None)

    def _optimization(self, token: Token, level: str) -> None:
        name = "--optimization-level" if self.engine.flag("--optimization-level") else "--compilation-config"
        number = whole_number(level)
        value: Json = level if number is None else number
        flag = self.engine.flag(name)
        self.found.arguments.append(
            Argument(flag=name, value=value, written=token.text, place=token.place, known=flag),
        )

    def _match(self, written: str, token: Token) -> _Match | None:
        """The flag that a name means; a problem and None when it means none."""
        name = written.replace("_", "-") if written.startswith("--") else written
        spelled = self.engine.spellings.get(name)
        if spelled is not None:
            return _Match(flag=spelled[0], negated=spelled[1], how="negation" if spelled[1] else "name", ours=True)
        prefixed = (
            sorted(known for known in self.engine.spellings if known.startswith(name)) if written[:2] == "--" else []
        )
        flags = {self.engine.spellings[known][0].name for known in prefixed}
        if len(prefixed) == 1:
            flag, negated = self.engine.spellings[prefixed[0]]
            return _Match(flag=flag, negated=negated, how="prefix", ours=True)
        if prefixed:
            self._problem("ambiguous prefix", token, f"{written} may mean {', '.join(sorted(flags))}")
            return None
        other = other_release(name)
        if other is None:
            near = nearest_name(name, self.engine.flags)
            self._problem("unknown flag", token, f"vLLM {self.engine.release} has no {written}", near or "")
            return None
        self._other(name, token, other)
        return _Match(flag=other, negated=name in other.negations, how="name", ours=False)

    def _other(self, name: str, token: Token, other: Flag) -> None:
        removal = self.engine.removed.get(other.name)
        if removal is not None:
            said = f"{name} is gone since vLLM {removal.since}, and {self.engine.release} refuses it"
            self._problem("removed flag", token, said, removal.instead)
        else:
            said = f"{name} came after vLLM {self.engine.release}, which refuses it"
            self._problem("later flag", token, said, "a later release")

    def _swallow_values(self, equals: str) -> None:
        """After an unknown flag: the one word that is most likely its value is not a stray word too."""
        if not equals and self.at < len(self.tokens) and not self.tokens[self.at].is_option:
            self.at += 1

    def _bare(self, token: Token, match: _Match, attached: str | None) -> None:
        if attached is not None:
            self._problem("unwanted value", token, f"{match.flag.name} takes no value", self._turned(match, attached))
            return
        self._add(token, match, value=not match.negated)
        following = self.tokens[self.at] if self.at < len(self.tokens) else None
        if following is not None and following.text.lower() in {"true", "false"}:
            self.at += 1
            self._problem(
                "stray word",
                following,
                f"{match.flag.name} takes no value: the word {following.text} is not understood",
                self._turned(match, following.text),
            )

    def _turned(self, match: _Match, word: str) -> str:
        """How a boolean is written that was meant by `--flag word`."""
        if word.lower() == "true":
            return match.flag.name
        return match.flag.negations[0] if match.flag.negations else f"nothing: leave {match.flag.name} out"

    def _valued(self, token: Token, match: _Match, attached: str | None) -> None:
        flag = match.flag
        words = [replace(token, text=attached)] if attached is not None else self._following(flag)
        if not words:
            if flag.value_optional or flag.type == "true or false":
                self._add(token, match, value=True)
            else:
                self._problem("missing value", token, f"{flag.name} wants a value")
            return
        values = [value for word in words if (value := self._value(token, flag, word)) is not _REFUSED]
        if len(values) == len(words):
            several: list[Json] = [value for value in values if not isinstance(value, Unresolved)]
            whole = several if flag.many and len(several) == len(values) else values[0]
            self._add(token, match, value=whole)

    def _following(self, flag: Flag) -> list[Token]:
        most = {"": 1, "repeated": 1}.get(flag.many) or (int(flag.many) if flag.many.isdigit() else len(self.tokens))
        words: list[Token] = []
        while self.at < len(self.tokens) and len(words) < most and not self.tokens[self.at].is_option:
            words.append(self.tokens[self.at])
            self.at += 1
        return words

    def _value(self, token: Token, flag: Flag, word: Token) -> Value:
        if word.unresolved:
            return Unresolved(text=word.text, needs=word.unresolved)
        try:
            return convert(flag, word.text)
        except ValueError as error:
            kind: ProblemKind = "value not allowed" if str(error).startswith("one of") else "bad value"
            self._problem(kind, replace(token, place=word.place), f"{flag.name} wants {error}, not {word.text}")
            return _REFUSED

    def _dotted(self, token: Token, match: _Match, path: str, attached: str | None) -> None:
        word = attached
        if word is None:
            following = self._following(replace(match.flag, many=""))
            if not following:
                self._problem("missing value", token, f"{token.text} wants a value")
                return
            word = following[0].text
        inner: Json = _loads(word)
        if path.endswith("+"):
            path, inner = path[:-1], [*word.split(",")]
        for key in reversed(path.split(".")):
            inner = {key: inner}
        for number, argument in enumerate(self.found.arguments):
            if argument.flag == match.flag.name and isinstance(argument.value, dict) and isinstance(inner, dict):
                self.found.arguments[number] = replace(argument, value=_merged(argument.value, inner))
                return
        self._add(token, match, value=inner)

    def _add(self, token: Token, match: _Match, *, value: Value) -> None:
        self.found.arguments.append(
            Argument(
                flag=match.flag.name,
                value=value,
                written=token.text.partition("=")[0],
                place=token.place,
                how="prefix" if match.how == "prefix" else "negation" if match.negated else "name",
                known=match.flag if match.ours else None,
            ),
        )

    def _problem(self, kind: ProblemKind, token: Token, message: str, instead: str = "") -> None:
        self.found.problems.append(
            Problem(kind=kind, written=token.text, place=token.place, message=message, instead=instead),
        )


_REFUSED: Final = Unresolved(text="", needs=("a value that the parser takes",))


def _loads(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value


def _merged(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    merged = dict(first)
    for key, value in second.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


@cache
def _every_flag() -> dict[str, Flag]:
    """Every spelling of every release, with the newest shape of its flag; names go before other spellings."""
    flags: dict[str, Flag] = {}
    for name, steps in engine_fold.committed()["flags"].items():
        entry = next(entry for _, entry in reversed(steps) if entry is not None)
        flags[name] = build({**entry, "name": name}, Flag)
    others = {name: flag for flag in flags.values() for name in (*flag.aliases, *flag.negations)}
    return {**others, **flags}


def other_release(name: str) -> Flag | None:
    """The flag that some release has under this name, in its newest shape."""
    return _every_flag().get(name)
