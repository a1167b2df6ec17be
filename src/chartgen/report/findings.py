"""The formats in which findings are told, by name: one module each."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.lint.finding import Outcome

FORMATS: Final = ("text", "json", "sarif", "junit", "github", "gitlab")
"""Each is the module `finding_<name>`, with a function `write(outcome, style)` that gives the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a report is written, beyond its format."""

    color: bool = False
    """Whether a terminal reads it."""
    show: frozenset[str] = frozenset()
    """What else is told: allowed (findings that were allowed) and unknown (questions left open)."""


def write(name: str, outcome: Outcome, style: Style) -> str:
    """The report in the format of that name."""
    module = import_module(f"chartgen.report.finding_{name}")
    function: Callable[[Outcome, Style], str] = module.write
    return function(outcome, style)
