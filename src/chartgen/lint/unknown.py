"""Cannot tell: a value of its own, and how views become plain data without it.

A view's field is a value, None (known to be absent) or an Unknown. Plain data for CEL keeps None as null and
leaves the unknown out, so that an expression which really needs it fails with a missing key, while `||` and
`&&` still decide whatever can be decided without it. So expressions never ask has() of a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

from chartgen.kernel.dataclass import dataclass

T = TypeVar("T")
_MOST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A fact that the files do not hold."""

    because: str
    """What is not known, as a sentence without a full stop."""
    run: str
    """What to run, or to look at, to find out."""


Maybe: TypeAlias = T | Unknown
"""A value, or the fact that nobody can tell."""


def known(value: Maybe[T], otherwise: T) -> T:
    """The value if it is known, else another."""
    return otherwise if isinstance(value, Unknown) else value


def plain(value: Any, unknown: dict[str, Unknown]) -> Any:
    """A view as plain data with camelCase keys; what cannot be told goes into `unknown` by its key."""
    if value is None or isinstance(value, str | int | float):
        return _held(value)
    if isinstance(value, Mapping):
        return _plain_items(value.items(), unknown)
    if isinstance(value, tuple | list | frozenset):
        entries = sorted(value) if isinstance(value, frozenset) else value
        return [plain(entry, unknown) for entry in entries]
    return _plain_items(((key, getattr(value, name)) for name, key in keys(value.__class__)), unknown)


def _plain_items(entries: Iterable[tuple[str, Any]], unknown: dict[str, Unknown]) -> dict[str, Any]:
    result = {}
    for key, entry in entries:
        if isinstance(entry, Unknown):
            unknown[key] = entry
        elif entry is None or isinstance(entry, str | int | float):
            result[key] = _held(entry)
        else:
            result[key] = plain(entry, unknown)
    return result


def _held(value: Any) -> Any:
    """A plain value as CEL can hold it: its whole numbers end at 64 bits (CEL specification, "Values")."""
    return value if not isinstance(value, int) or abs(value) <= _MOST else _MOST if value > 0 else -_MOST


@cache
def keys(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a view, each with the key that expressions use."""
    return tuple((field.name, camel(field.name)) for field in fields(kind))


def camel(name: str) -> str:
    """per_pod as perPod."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
