"""Expressions as text: which variables they use, and how to rename them. Compiling is the linter's business."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from chartgen.policy.types import Policy, Scope

VARIABLES: Final[dict[Scope, frozenset[str]]] = {
    "document": frozenset({"document"}),
    "object": frozenset({"object"}),
    "pod": frozenset({"pod", "spec", "object"}),
    "engine": frozenset({"engine", "pod"}),
    "service": frozenset({"service"}),
    "scaler": frozenset({"scaler"}),
    "route": frozenset({"route"}),
    "budget": frozenset({"budget"}),
    "monitor": frozenset({"monitor"}),
    "bundle": frozenset({"bundle"}),
}
"""The names an expression of a scope may use, beside `item` and `cluster`, which all may."""

NAMES: Final = frozenset().union(*VARIABLES.values()) | {"item", "cluster"}
"""Every variable there is."""

_TOKEN: Final = re.compile(r"""(?P<name>[A-Za-z_]\w*)|[.\d]\w*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
"""A name; or what holds none: a field after its dot, a number, a text."""

_PARAMETER: Final = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<![.\w])parameters\.(?P<name>[A-Za-z_]\w*)"""
)


def names_in(source: str) -> frozenset[str]:
    """The variables that an expression uses."""
    return frozenset(match["name"] for match in _TOKEN.finditer(source) if match["name"]) & NAMES


def names_of(policy: Policy) -> frozenset[str]:
    """The variables that a policy needs to judge and to speak."""
    texts = (policy.when or "", policy.require, policy.message)
    starts = {part.strip().partition(".")[0].partition("[")[0] for part in (policy.each or "").split(",")} - {""}
    return frozenset().union(*map(names_in, texts)) | starts


def functions_of(policy: Policy) -> frozenset[str]:
    """The functions that a policy calls by name; those called on a value, such as `text.find(…)`, are left out."""
    texts = (policy.when or "", policy.require, policy.message)
    return frozenset(
        match["name"]
        for text in texts
        for match in _TOKEN.finditer(text)
        if match["name"] and text[match.end() :].lstrip().startswith("(")
    )


def renamed(source: str, names: Mapping[str, str]) -> str:
    """The expression with variables called otherwise; texts and fields of the same name stay."""

    def other(match: re.Match[str]) -> str:
        return names.get(match["name"], match[0]) if match["name"] else match[0]

    return _TOKEN.sub(other, source)


def parameters_in(source: str) -> frozenset[str]:
    """The parameters that an expression uses."""
    return frozenset(match["name"] for match in _PARAMETER.finditer(source) if match["name"])


def with_parameters(source: str, spelling: Callable[[str], str]) -> str:
    """The expression with each `parameters.NAME` spelled otherwise; texts stay."""
    return _PARAMETER.sub(lambda match: spelling(match["name"]) if match["name"] else match[0], source)


def rule_of(policy: Policy) -> str:
    """What a policy demands as one expression: outside of `when`, everything is right."""
    require = " ".join(policy.require.split())
    return f"!({' '.join(policy.when.split())}) || ({require})" if policy.when else require


def all_of(base: str, segments: Sequence[str], rule: str, depth: int = 0) -> str:
    """An expression that every entry of a list (of lists) below `base` obeys a rule; a list that is not there does."""
    present, held = present_at(base, segments[0])
    if len(segments) == 1:
        return f"!({present}) || {held}.all(item, {rule})"
    inner = f"e{depth}"
    return f"!({present}) || {held}.all({inner}, {all_of(inner, segments[1:], rule, depth + 1)})"


def present_at(base: str, path: str) -> tuple[str, str]:
    """A condition that the path below `base` is there, and the path itself."""
    conditions, held = [], base
    for name in path.split("."):
        held = f"{held}.{name}"
        conditions.append(f"has({held})")
    return " && ".join(conditions), held


def lists_of(policy: Policy) -> list[tuple[str, list[str]]]:
    """The lists whose entries a policy speaks of: the variable, and the names between one list and the next."""
    found = []
    for path in (policy.each or "").split(","):
        parts = [part.strip(".") for part in path.strip().split("[]") if part]
        if parts:
            base, _, names = parts[0].partition(".")
            found.append((base, [names, *parts[1:]]))
    return found
