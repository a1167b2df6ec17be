"""One error with its place inside an object, and how to walk an object that may be malformed anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.validate.problem import Code

Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong, not yet tied to an object."""

    path: Path
    """Where in the object."""
    code: Code
    """The sort of fault."""
    message: str
    """The whole finding as one sentence, without the place."""
    found: str = ""
    """What stands there."""
    expected: str = ""
    """What would do."""
    nearest: str | None = None
    """The nearest known name."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its path. A step into something that is not there gives an empty node, never an error."""

    value: Any
    path: Path = ()

    def __getitem__(self, key: str) -> Node:
        """The field `key`; a node of None when there is no such field."""
        return Node(self.value.get(key) if isinstance(self.value, dict) else None, (*self.path, key))

    def __contains__(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def entries(self) -> Iterator[Node]:
        """The entries of a list; none for anything else."""
        if isinstance(self.value, list):
            for position, entry in enumerate(self.value):
                yield Node(entry, (*self.path, position))

    def fields(self) -> Iterator[tuple[str, Node]]:
        """The fields of a mapping; none for anything else."""
        if isinstance(self.value, dict):
            for key, entry in self.value.items():
                yield str(key), Node(entry, (*self.path, key))

    def at(self, *keys: str) -> Node:
        """The field below field below field."""
        node = self
        for key in keys:
            node = node[key]
        return node

    def text(self) -> str | None:
        """The value when it is text that says something."""
        return self.value if isinstance(self.value, str) and self.value else None

    def number(self, default: int | None = None) -> int | None:
        """The value when it is a whole number, the default when there is none."""
        if self.value is None:
            return default
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    def fault(self, code: Code, message: str, *, found: str = "", expected: str = "") -> Fault:
        """A fault at this place."""
        return Fault(path=self.path, code=code, message=message, found=found, expected=expected)


def exactly_one(node: Node, names: tuple[str, ...], what: str) -> Iterator[Fault]:
    """A fault unless exactly one of the fields is there."""
    there = [name for name in names if name in node]
    if not there:
        yield node.fault("missing", f"{what} is missing", found="nothing", expected=f"one of {', '.join(names)}")
    elif len(there) > 1:
        message = f"{' and '.join(there)} exclude each other: {what} is one of them"
        yield node.fault("value", message, found=", ".join(there), expected="one of them")
