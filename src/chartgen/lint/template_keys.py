"""Which values keys Go templates read, and which they pass on as a whole.

Templates are read action by action, with the scopes of `with` and `range`, variables, and named templates that are
given one key. Where that is not enough to tell, a key counts as passed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from chartgen.kernel.dataclass import dataclass

Path: TypeAlias = tuple[str, ...]
"""A values key with its parents; `EACH` stands for every entry of a list."""
EACH: Final = "[]"

_COMMENT: Final = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
_ACTION: Final = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_TOKEN: Final = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<path>\$?[A-Za-z_]?\w*(?:\.[A-Za-z_]\w*)+)|(?P<variable>\$\w*)"""
    r"|(?P<dot>\.)|(?P<word>[A-Za-z_]\w*)|(?P<mark>:=|=|[()|,])"
)
_OPENERS: Final = frozenset({"if", "with", "range", "define", "block"})
_CALLS: Final = frozenset({"include", "template"})
_READS: Final = frozenset({"hasKey", "get", "index", "dig", "int", "toString", "lower", "len"})
"""Functions in a condition that read a key by name, or make a scalar of it."""
_LOOKS: Final = frozenset(
    {"and", "or", "not", "eq", "ne", "gt", "ge", "lt", "le", "empty", "kindIs", "typeIs", "default"}
)
"""Functions in a condition that look at a value and pass nothing on."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


_Action: TypeAlias = Sequence[_Token]


@dataclass(slots=True)
class TemplateKeys:
    """The keys that templates know."""

    read: set[Path] = field(default_factory=set)
    """Keys that are read by name."""
    whole: set[Path] = field(default_factory=set)
    """Keys that are passed on as a whole; the empty path stands for all of the values."""


def template_keys(texts: Iterable[str]) -> TemplateKeys:
    """What the templates of a chart read."""
    named: dict[str, list[_Action]] = {}
    files: list[list[_Action]] = []
    for text in texts:
        files.append([])
        for name, action in _placed(_actions(text)):
            (files[-1] if name is None else named.setdefault(name, [])).append(action)
    keys = TemplateKeys()
    called: set[tuple[str, Path | None]] = set()
    for actions in files:
        _Reader(keys, named, called).take(actions)
    return keys


def _actions(text: str) -> Iterator[_Action]:
    for match in _ACTION.finditer(_COMMENT.sub("", text)):
        yield [_Token(str(token.lastgroup), token[0]) for token in _TOKEN.finditer(match[1])]


def _word(action: _Action) -> str:
    return action[0].text if action else ""


def _placed(actions: Iterable[_Action]) -> Iterator[tuple[str | None, _Action]]:
    """Each action with the named template that it stands in; None for those that are rendered by themselves."""
    name, depth = "", 0
    for action in actions:
        word = _word(action)
        if depth:
            depth += (word in _OPENERS) - (word == "end")
            if depth:
                yield name, action
        elif word == "define":
            name, depth = next(_strings(action[1:]), ""), 1
        else:
            yield None, action


@dataclass(slots=True)
class _Reader:
    """One pass over actions: the dot of each scope, and the variables that stand for values."""

    keys: TemplateKeys
    named: Mapping[str, Sequence[_Action]]
    called: set[tuple[str, Path | None]]
    dots: list[Path | None] = field(default_factory=lambda: [None])
    """What the dot is in each scope: a path below .Values; None for the chart's root and for what is not known."""
    variables: dict[str, Path | None] = field(default_factory=dict)

    def take(self, actions: Iterable[_Action]) -> None:
        """Read actions in their order."""
        for action in actions:
            word = _word(action)
            if word == "else":
                self._else(action[1:])
            elif word == "end":
                self._close()
            elif word in _OPENERS:
                self._open(word, action[1:])
            elif action[1:2] and action[0].kind == "variable" and action[1].text in {":=", "="}:
                self._bind(action[0].text, self._only(action[2:]), action[2:])
            else:
                self._use(action)

    def _close(self) -> None:
        if len(self.dots) > 1:
            self.dots.pop()

    def _else(self, rest: _Action) -> None:
        if _word(rest) in {"if", "with"}:
            self._close()
            self._open(_word(rest), rest[1:])

    def _open(self, opener: str, rest: _Action) -> None:
        dot = self.dots[-1]
        if opener == "if":
            self._test(rest)
        elif opener == "range":
            dot = self._range(rest)
        else:
            dot = self._only(rest)
            if opener != "with" or dot is None:
                self._use(rest)
                dot = None
            else:
                self.keys.read.add(dot)
        self.dots.append(dot)

    def _range(self, rest: _Action) -> Path | None:
        names = [token.text for token in rest if token.kind == "variable"]
        bound = next((place for place, token in enumerate(rest) if token.text == ":="), None)
        operand = rest if bound is None else rest[bound + 1 :]
        only = self._only(operand)
        if not only:
            self._use(operand)
            entry = None
        else:
            self.keys.read.add(only)
            entry = (*only, EACH)
            self.keys.read.add(entry)
        if bound is not None and names:
            self.variables[names[-1] if names[-1] in {token.text for token in rest[:bound]} else names[0]] = entry
        return entry

    def _bind(self, name: str, only: Path | None, operand: _Action) -> None:
        if only is None:
            self._use(operand)
        else:
            self.keys.read.add(only)
        before = self.variables.get(name, only)
        if before != only:
            # One name for two things: nobody can tell which keys are read through it.
            self.keys.whole.update(path for path in (before, only) if path is not None)
        self.variables[name] = only

    def _only(self, tokens: _Action) -> Path | None:
        """The key, when an operand is nothing but one key."""
        return self._path(tokens[0]) if len(tokens) == 1 else None

    def _test(self, tokens: _Action) -> None:
        words = {token.text for token in tokens if token.kind == "word"}
        self._use(tokens, passing=not words <= _LOOKS | _READS)

    def _use(self, tokens: _Action, *, passing: bool = True) -> None:
        """Everything else passes on what it names, unless a function reads a key of it by name."""
        skipped = 0
        for place, token in enumerate(tokens):
            if token.kind == "word" and token.text in _CALLS:
                self._call(tokens[place + 1 :])
            path = self._path(token)
            before = tokens[place - 1].text if place else ""
            if place < skipped or path is None or (path == () and before == '"Values"'):
                continue
            names = list(_strings(tokens[place + 1 :]))
            if before == "index" and names:
                path, skipped = (*path, *names), place + 1 + len(names)
            elif before in {"hasKey", "get"} and names:
                path, skipped = (*path, names[0]), place + 2
            self.keys.read.add(path)
            if passing and before != "hasKey" and before.strip('"`') not in self.named:
                self.keys.whole.add(path)

    def _call(self, operands: _Action) -> None:
        """Read a named template with what it is given; all of them where the name is worked out."""
        if any(token.text.endswith(".Template.BasePath") for token in operands[:3]):
            return  # A whole template file, which is read anyway: charts take its checksum.
        names = list(_strings(operands))
        given = self._path(operands[1]) if names and operands[1:] else None
        for name in names[:1] or self.named:
            if name in self.named and (name, given) not in self.called:
                self.called.add((name, given))
                _Reader(self.keys, self.named, self.called, dots=[given]).take(self.named[name])

    def _path(self, token: _Token) -> Path | None:
        """The values key that a token stands for; None for anything else."""
        if token.kind == "dot":
            return self.dots[-1]
        if token.kind == "variable":
            return self.variables.get(token.text)
        if token.kind != "path":
            return None
        head, *names = token.text.split(".")
        if "Values" in names:
            return tuple(names[names.index("Values") + 1 :])
        start = self.variables.get(head) if head else self.dots[-1]
        return None if start is None else (*start, *names)


def _strings(tokens: _Action) -> Iterator[str]:
    """The texts that follow each other."""
    for token in tokens:
        if token.kind != "string":
            return
        yield token.text[1:-1]
