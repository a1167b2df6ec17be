"""What a container's command line says, in one normal form: for plan, lint and `chartgen engine check`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from chartgen.catalog.engine_types import Flag
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.decision import Json

List = Literal["command", "args", "config"]
"""The list of a container that a word stands in, or the engine's own config file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a word stands."""

    list: List
    index: int
    """Which entry of the list, or which line of the config file, from 0."""
    line: int = 0
    """Line inside the entry, from 0: entries may be whole scripts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A value that the files do not tell."""

    text: str
    """As written: $(MODEL)/weights."""
    needs: tuple[str, ...]
    """What would have to be known."""


Value: TypeAlias = "Json | Unresolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One flag with its value, as the engine's parser understands it."""

    flag: str
    """The flag's long name: --tensor-parallel-size for -tp."""
    value: Value
    """The value in its type: 8192 for 8K. False for a negated boolean."""
    written: str
    """The name as written: --max_model_len."""
    place: Place
    how: Literal["name", "negation", "prefix"] = "name"
    """Spelled in full (an alias and underscores count as that), negated, or cut short and still unique."""
    known: Flag | None = None
    """What the release says of it; None for a flag of another release."""


ProblemKind = Literal[
    "unknown flag",
    "removed flag",
    "later flag",
    "ambiguous prefix",
    "missing value",
    "unwanted value",
    "bad value",
    "value not allowed",
    "stray word",
    "repeated program",
    "no model",
    "model as option",
]
"""Everything that makes the engine's parser exit with code 2, or read something else than was meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that the engine's parser would refuse."""

    kind: ProblemKind
    written: str
    """The word at fault."""
    place: Place
    message: str
    """One sentence."""
    instead: str = ""
    """What to write; empty when nobody can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """A container that starts vLLM's server, or its run over a file of requests."""

    program: Literal["vllm serve", "api server", "image entry point", "mixed"]
    """How the server is started; mixed: by a program that takes the engine's options among its own."""
    model: Value
    """The model as given; None when it is not."""
    arguments: tuple[Argument, ...]
    """Flags in order; of the same flag twice the last counts."""
    problems: tuple[Problem, ...] = ()
    gaps: tuple[str, ...] = ()
    """Words that may hold further arguments: $EXTRA_ARGS, a config file that is not at hand."""
    env: Mapping[str, str | None] = field(default_factory=dict)
    """The environment the server runs in; None for a value that the files do not tell."""
    release_certain: bool = True
    """Whether the release is known; False: read with the newest release's flags."""

    def given(self, flag: str) -> Argument | None:
        """The argument that counts for a flag (long name), or None."""
        found = [argument for argument in self.arguments if argument.flag == flag]
        return found[-1] if found else None

    def value(self, flag: str, default: Json = None) -> Value:
        """The value that counts for a flag, or `default` when it is not given."""
        found = self.given(flag)
        return default if found is None else found.value


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAnEngine:
    """The container does not start vLLM's server."""

    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotTell:
    """The container may start vLLM, and the files do not say how."""

    because: str


Reading: TypeAlias = CommandLine | NotAnEngine | CannotTell
