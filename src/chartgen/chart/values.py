"""The values tree: joined from components, walked, and changed by overrides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, Values


def join(components: Iterable[Component]) -> Values:
    """One tree from all components; two components may share a group but never a leaf."""
    tree: dict[str, Any] = {}
    for component in components:
        _lay(tree, component.values, component.name)
    return tree


def _lay(tree: dict[str, Any], values: Values, owner: str) -> None:
    for key, value in values.items():
        if isinstance(value, Decision):
            if key in tree:
                msg = f"component {owner} sets {key!r}, which another component has set"
                raise ValueError(msg)
            tree[key] = value
        else:
            _lay(tree.setdefault(key, {}), value, owner)


def leaves(values: Values, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Decision[Json]]]:
    """Every decision of the tree with its path, in order."""
    for key, value in values.items():
        if isinstance(value, Decision):
            yield (*path, key), value
        else:
            yield from leaves(value, (*path, key))


def plain(values: Values) -> dict[str, Any]:
    """The tree without its reasons: what Helm reads."""
    return {key: value.value if isinstance(value, Decision) else plain(value) for key, value in values.items()}


def override(values: Values, path: tuple[str, ...], asked: Json, file: str) -> Values | None:
    """The tree with the leaf at `path` replaced; the plan's own value stays beside it.

    Returns None when the tree has no such leaf.
    """
    key, *rest = path
    current = values.get(key)
    if current is None:
        return None
    if isinstance(current, Decision):
        if rest:
            return None
        because = f"Set in {file}. The plan alone gives {_short(current.value)}: {current.because}"
        changed: Decision[Json] | Values = replace(current, value=asked, because=because, origin="asked", alone=current)
    else:
        if not rest:
            return None
        inner = override(current, tuple(rest), asked, file)
        if inner is None:
            return None
        changed = inner
    return {**values, key: changed}


def _short(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return "its own"
    return str(value)
