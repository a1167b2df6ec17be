"""The kinds of value that reading sources gives where running them would give Python objects."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine_reader.sources import Module


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that only running the program would give; `text` is its source."""

    text: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the release."""

    module: Module
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the release, or a method with the class it was found in."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Foreign:
    """A module or a name from outside the release, such as json.loads, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A type that names its values."""

    options: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """The result of calling a class or a foreign function with arguments that were read."""

    maker: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


PLAIN: Final = (str, int, float, bool, bytes, type(None))
"""The types of values that reading gives as Python objects, containers aside."""


def method(owner: Any, method: str, args: list[Any]) -> Any:  # noqa: PLR0911 - one return a kind of node
    """What a method of a plain object gives; None for a method that is not followed."""
    match owner, method:
        case dict(), "keys":
            return list(owner)
        case dict(), "values":
            return list(owner.values())
        case dict(), "items":
            return [list(pair) for pair in owner.items()]
        case dict(), "get" if args and isinstance(args[0], PLAIN):
            return owner.get(args[0], args[1] if len(args) > 1 else None)
        case str(), "replace" | "upper" | "lower" | "strip" | "removeprefix" if all(
            isinstance(argument, str) for argument in args
        ):
            return getattr(owner, method)(*args)
        case str(), "join" if args and isinstance(args[0], list):
            return owner.join(str(item) for item in args[0])
        case _:
            return None
