"""The views as documentation: every field that an expression can speak of, with the sentence that stands under it."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, Final, get_args, get_origin, get_type_hints

from chartgen.lint.unknown import Unknown, camel
from chartgen.lint.views.budget import BudgetView
from chartgen.lint.views.bundle import BundleView
from chartgen.lint.views.document import DocumentView
from chartgen.lint.views.engine.view import EngineView
from chartgen.lint.views.monitor import MonitorView
from chartgen.lint.views.pod import PodView
from chartgen.lint.views.route import RouteView
from chartgen.lint.views.scaler import ScalerView
from chartgen.lint.views.service import ServiceView
from chartgen.policy.pages import fields_page

_ROOTS: Final = {
    "engine": EngineView,
    "pod": PodView,
    "service": ServiceView,
    "scaler": ScalerView,
    "route": RouteView,
    "budget": BudgetView,
    "monitor": MonitorView,
    "bundle": BundleView,
    "document": DocumentView,
}
_INTRO: Final = """\
An expression speaks of the variables of its scope. `object` is the raw object, `spec` the raw spec of a pod; the views
below are worked out from everything that was read together. A field that the files do not tell is left out, and then
the policy answers "cannot tell" unless the rest of its expression decides; so expressions never ask `has()` of a view.
`item` is the entry that `each` speaks of, `cluster` has `oldest` and `newest` (37 is Kubernetes 1.37) and `cloud`."""


def views_page() -> str:
    """The page of all views and their parts."""
    seen: dict[type[Any], str] = {}
    found = []
    for name, kind in _ROOTS.items():
        for path, part in _parts(name, kind, seen):
            found.append((path, _first_line(part), list(_rows(part))))
    return fields_page("What a policy can speak of", _INTRO, found)


def _parts(path: str, kind: type[Any], seen: dict[type[Any], str]) -> Iterator[tuple[str, type[Any]]]:
    """A view and the dataclasses inside it, each once, with the path that leads to it."""
    if kind in seen:
        return
    seen[kind] = path
    yield path, kind
    hints = get_type_hints(kind)
    for field in fields(kind):
        for inner, many in _dataclasses(hints[field.name]):
            yield from _parts(f"{path}.{camel(field.name)}{'[]' if many else ''}", inner, seen)


def _dataclasses(hint: Any, *, many: bool = False) -> Iterator[tuple[type[Any], bool]]:
    if is_dataclass(hint) and isinstance(hint, type) and hint is not Unknown:
        yield hint, many
    for inner in get_args(hint):
        yield from _dataclasses(inner, many=many or getattr(hint, "__origin__", None) is tuple)


def _rows(kind: type[Any]) -> Iterator[tuple[str, str, str]]:
    sentences = _sentences(kind)
    hints = get_type_hints(kind)
    for field in fields(kind):
        yield camel(field.name), _type(hints[field.name]), sentences.get(field.name, "").replace("|", "\\|")


def _sentences(kind: type[Any]) -> dict[str, str]:
    """The sentence under each field, as the source has it."""
    module = ast.parse(inspect.getsource(sys.modules[kind.__module__]))
    body = next(node.body for node in module.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    found = {}
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def _first_line(kind: type[Any]) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0]


def _type(hint: Any) -> str:
    """A type in the words of a reader."""
    args = get_args(hint)
    if Unknown in args:
        return f"{' or '.join(_type(one) for one in args if one is not Unknown)}, or cannot tell"
    origin = str(get_origin(hint))
    if hint is frozenset or "tuple" in origin or "frozenset" in origin:
        return "list" if is_dataclass(args[0]) else f"list of {_type(args[0])}"
    if "Union" in origin:
        return " or ".join(dict.fromkeys(map(_type, args)))
    words = {str: "text", int: "number", float: "number", bool: "true or false", type(None): "null"}
    return words.get(hint) or ("group" if is_dataclass(hint) else "map" if "Mapping" in origin else "text")
