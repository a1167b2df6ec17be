"""Spellings: how a release is told something, and the common ways to find out.

Code asks for an intent, never for a flag. The answer is one of three: flags to render, environment to set, or a
sentence that says why the release cannot do it, so that nothing is dropped in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Flags to render. May be empty: the release does it without being told, and `because` says so."""

    flags: Mapping[str, Json]
    """Flag with dashes to value: True for a bare switch (a negation is a flag of its own, never False), a
    scalar for one word, a list for several words, a mapping for JSON."""
    because: str
    """One sentence: what the release knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Env:
    """Environment variables to set."""

    env: Mapping[str, str]
    """Name to value."""
    because: str
    """One sentence: what the release reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cannot:
    """The release cannot be told."""

    because: str
    """One sentence with the release in it."""


Spelling: TypeAlias = Flags | Env | Cannot
Speller: TypeAlias = "Callable[[Engine, Json], Spelling]"


def words(flags: Mapping[str, Json]) -> list[str]:
    """The command line of a mapping of flags: True is a bare switch, a list several words, a mapping JSON."""
    line: list[str] = []
    for name, value in flags.items():
        match value:
            case True:
                line.append(name)
            case list():
                line += [name, *(str(item) for item in value)]
            case dict():
                line += [name, json.dumps(value)]
            case _:
                line += [name, str(value)]
    return line


def known_flags(engine: Engine, flags: Mapping[str, Json]) -> Spelling:
    """The flags, once each is known to the release and each value to the flag."""
    for name, value in flags.items():
        flag = engine.flag(name)
        if flag is None:
            gone = engine.removed.get(name)
            why = f"{name} went with {gone.since}" if gone else f"it has no {name}"
            return Cannot(because=f"vLLM {engine.release} cannot: {why}")
        values = value if isinstance(value, list) else [value]
        if flag.choices and not all(choice in flag.choices for choice in values):
            allowed = ", ".join(str(choice) for choice in flag.choices)
            return Cannot(because=f"vLLM {engine.release} takes {name} of {allowed}, not {value}")
    return Flags(flags=flags, because=f"vLLM {engine.release} knows {', '.join(flags)}")


def flag(name: str, *, otherwise: str = "") -> Speller:
    """An intent that is one flag with the value as it is; `otherwise` says why releases without it cannot."""

    def speller(engine: Engine, value: Json) -> Spelling:
        spelled = known_flags(engine, {name: value})
        if isinstance(spelled, Cannot) and otherwise and engine.flag(name) is None:
            return Cannot(because=f"vLLM {engine.release} cannot: {otherwise}")
        return spelled

    return speller


def switch(name: str) -> Speller:
    """An intent that a boolean flag turns on or off."""

    def speller(engine: Engine, value: Json) -> Spelling:
        known = engine.flags.get(name)
        if known is None:
            return known_flags(engine, {name: True})
        if known.type == "true or false":
            return Flags(flags={name: "true" if value else "false"}, because=f"{name} takes a word on {engine.release}")
        if value:
            return Flags(flags={name: True}, because=f"vLLM {engine.release} knows {name}")
        if known.negations:
            negation = known.negations[0]
            return Flags(flags={negation: True}, because=f"vLLM {engine.release} knows {negation}")
        return Flags(flags={}, because=f"{name} is a bare switch on {engine.release}: off unless it is given")

    return speller


def fixed(flags: Mapping[str, Json], *, otherwise: str = "") -> Speller:
    """An intent without a value of its own."""

    def speller(engine: Engine, _: Json) -> Spelling:
        spelled = known_flags(engine, flags)
        if isinstance(spelled, Cannot) and otherwise:
            return Cannot(because=f"vLLM {engine.release} cannot: {otherwise}")
        return spelled

    return speller


def member(name: str, group: Callable[[Engine], frozenset[str]], what: str) -> Speller:
    """An intent whose value must be one that the release knows, though its parser may not check it."""

    def speller(engine: Engine, value: Json) -> Spelling:
        known = group(engine)
        if value not in known:
            names = ", ".join(sorted(known))
            return Cannot(because=f"vLLM {engine.release} has no {what} {value}; it has {names}")
        return known_flags(engine, {name: value})

    return speller


def environment(name: str, *, otherwise: str) -> Speller:
    """An intent that an environment variable says."""

    def speller(engine: Engine, value: Json) -> Spelling:
        if name not in engine.env:
            return Cannot(because=f"vLLM {engine.release} cannot: {otherwise}")
        return Env(env={name: str(value)}, because=f"vLLM {engine.release} reads {name}")

    return speller
