"""What a release makes of a command line beyond parsing it: values it does not know, flags that will go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from chartgen.catalog import engine_fold
from chartgen.catalog.command_types import Argument, CommandLine, Place
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import nearest_name

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine

Outcome = Literal["refused", "fails at start", "ignored", "will go", "blinds"]
"""What happens: the parser exits, the server exits later, nothing happens, nothing yet, or metrics vanish."""

FATAL: Final[frozenset[Outcome]] = frozenset({"refused", "fails at start"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing a release does not do as written."""

    outcome: Outcome
    written: str
    """The word or variable at fault."""
    message: str
    """One sentence."""
    instead: str = ""
    """What to write; empty when nobody can say."""
    place: Place | None = None
    """Where it stands; None for the environment."""


def check(line: CommandLine, engine: Engine) -> list[Remark]:
    """Everything a release does not do as written, parse errors first."""
    remarks = [
        Remark(
            outcome="refused",
            written=problem.written,
            message=problem.message,
            instead=problem.instead,
            place=problem.place,
        )
        for problem in line.problems
        if problem.kind != "no model"
    ]
    remarks += _values(line, engine)
    remarks += _old(line)
    remarks += _environment(line, engine)
    return remarks


def _values(line: CommandLine, engine: Engine) -> Iterator[Remark]:
    """Values that the parser lets through and the engine refuses later."""
    groups = {
        "--tool-call-parser": (engine.tool_parsers, "--tool-parser-plugin"),
        "--reasoning-parser": (engine.reasoning_parsers, "--reasoning-parser-plugin"),
        "--kv-cache-dtype": (engine.kv_dtypes, ""),
        "--quantization": (engine.quantizations, ""),
    }
    for flag, (known, plugin) in groups.items():
        given = line.given(flag)
        plugged = bool(plugin) and line.given(plugin) is not None
        if given is None or plugged or not isinstance(given.value, str) or given.value in {"", *known}:
            continue
        near = nearest_name(given.value, known)
        yield Remark(
            outcome="fails at start",
            written=given.value,
            message=f"vLLM {engine.release} has no {flag.removeprefix('--')} {given.value}",
            instead=f"{flag} {near}" if near else f"one of {', '.join(sorted(known))}",
            place=given.place,
        )
    choice = line.given("--enable-auto-tool-choice")
    if choice is not None and choice.value is True and line.given("--tool-call-parser") is None and not line.gaps:
        yield Remark(
            outcome="refused",
            written=choice.written,
            message="--enable-auto-tool-choice wants --tool-call-parser",
            instead="--tool-call-parser with the parser of the model's family",
            place=choice.place,
        )


def _old(line: CommandLine) -> Iterator[Remark]:
    """Flags that will go, and the one that switches every metric off."""
    for argument in line.arguments:
        if argument.known is not None and argument.known.deprecated:
            yield _remark(argument, "will go", f"{argument.flag} is deprecated: a later release refuses it")
        if argument.flag == "--disable-log-stats" and argument.value is True:
            message = "--disable-log-stats switches off every vllm: metric, not only log lines"
            yield _remark(argument, "blinds", message, "nothing: leave it out")


def _remark(argument: Argument, outcome: Outcome, message: str, instead: str = "") -> Remark:
    return Remark(
        outcome=outcome,
        written=argument.written,
        message=message,
        instead=instead,
        place=argument.place,
    )


def _environment(line: CommandLine, engine: Engine) -> Iterator[Remark]:
    """Variables of the engine's own that this release does not read."""
    ever = engine_fold.committed()["environment"]
    for name in line.env:
        if not name.startswith("VLLM_") or name in engine.env:
            continue
        removal = engine.removed_env.get(name)
        instead = removal.instead if removal else ""
        if removal is not None:
            said = f"{name} is not read since vLLM {removal.since}"
        elif name in ever:
            said = f"{name} came after vLLM {engine.release}"
        else:
            said = f"no release reads {name}"
            instead = nearest_name(name, engine.env) or ""
        yield Remark(outcome="ignored", written=name, message=said, instead=instead)
