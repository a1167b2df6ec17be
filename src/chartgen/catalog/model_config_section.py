"""A Section: the part of a config.json that describes the language model, read by our names of its keys.

Nothing is guessed. A key is the config's own, or a value that the class of its type fixes, or a problem. Every
problem is kept, so that a reader sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from chartgen.catalog.model_config_file import JsonFile
from chartgen.catalog.model_config_types import LayerKind, ModelType, Trait
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputProblem
from chartgen.kernel.structure import shown
from chartgen.kernel.yaml_source import Step

LARGEST = 1 << 32
"""No count in a config is larger; a larger number is a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One object of a config.json and the rules it is read by."""

    json: JsonFile
    """The file."""
    path: tuple[Step, ...]
    """Where the object stands in it; empty for the root."""
    value: Mapping[str, Any]
    """The object."""
    rules: ModelType
    """The rules of its type."""
    problems: list[InputProblem] = field(default_factory=list)
    """What is wrong so far, shared by all sections of a file."""

    def inside(self, key: str, value: Mapping[str, Any]) -> Section:
        """The object at `key`, read by the same rules, with the same list of problems."""
        return replace(self, path=(*self.path, key), value=value)

    def refuse(
        self, key: str, found: str, expected: str, *, index: int | None = None, nearest: str | None = None
    ) -> None:
        """Keep a problem at `key`, or at one item of its list."""
        steps: tuple[Step, ...] = (*self.path, *key.split("."))
        steps = steps if index is None else (*steps, index)
        self.problems.append(self.json.problem(steps, found, expected, nearest))

    def key_of(self, name: str, kind: LayerKind | None = None) -> str:
        """The config's spelling of our `name`, for one kind of layer where it has its own."""
        if kind is not None:
            special = self.rules.shapes.get(kind, {}).get(name)
            if special is not None and self.raw(special) is not None:
                return special
        return self.rules.rename.get(name, name)

    def raw(self, key: str) -> Any:
        """The value at a key as config.json spells it, or None; dots step into nested objects."""
        value: Any = self.value
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    def get(self, name: str, kind: LayerKind | None = None) -> Any:
        """The value of our `name`: the config's, or the one its class fixes, or None."""
        key = self.key_of(name, kind)
        value = self.raw(key)
        return self.rules.defaults.get(key) if value is None else value

    def whole(self, name: str, kind: LayerKind | None = None, *, least: int = 1, most: int = LARGEST) -> int:
        """A whole number that must be there; 1 in its place when it is not."""
        value = self.get(name, kind)
        key = self.key_of(name, kind)
        if value is None:
            self.refuse(key, "nothing", f"the key {key!r}, a whole number, as the config.json of a model has it")
            return 1
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(key, shown(value), f"a whole number from {least} to {most}")
            return 1
        return value

    def whole_or(self, name: str, otherwise: int, kind: LayerKind | None = None) -> int:
        """A whole number, or `otherwise` where the key is absent or null."""
        return otherwise if self.get(name, kind) is None else self.whole(name, kind, least=0)

    def flag(self, key: str, *, otherwise: bool = False) -> bool:
        """A switch of config.json; `otherwise` where the key is absent or null."""
        value = self.raw(key)
        value = self.rules.defaults.get(key) if value is None else value
        if value is None:
            return otherwise
        if not isinstance(value, bool):
            self.refuse(key, shown(value), "true or false")
        return bool(value)

    def trait(self, trait: Trait) -> bool:
        """A property of the class, or of the key of config.json that says so."""
        return self.flag(trait) if isinstance(trait, str) else trait

    def items(self, key: str) -> Sequence[Any] | None:
        """A list (or a text, letter by letter) at a key of config.json; None where it is absent."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list | str):
            self.refuse(key, shown(value), "a list with one item a layer")
            return None
        return value
