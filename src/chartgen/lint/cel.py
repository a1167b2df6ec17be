"""The only door to CEL: compiles expressions and evaluates them on plain data.

The engine takes exact dicts, lists, strings, numbers, booleans and None. A failure while it runs is a value
of its own here, never a pass: a missing key is told apart, because views leave out what they cannot tell.
Memory of an activation grows with use, so there is one for each thing judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.lint import functions
from chartgen.policy.expressions import NAMES

_CONFIG: Final = """
name: chartgen
extensions:
- name: strings
- name: optional
- name: sets
"""
_MISSING: Final = re.compile(r'Key not found in map : "?(.*?)"?$')
_SELF_TEST: Final = (
    "[1, 2].exists(n, n == 2) && {'a': 1}.?b.orValue(2) == 2 && 'a,b'.split(',').join('-') == 'a-b' "
    "&& '%d'.format([3]) == '3' && sets.contains([1, 2], [1]) && quantity('1Ki') == 1024.0 "
    "&& 'v1.2'.find('[0-9]+') == '1' && 'a'.matches('^a$')"
)


class ExpressionError(ValueError):
    """An expression that does not compile: the policy's author is told where."""


@dataclass(frozen=True, slots=True)
class Missing:
    """An evaluation that needed a key which is not there."""

    key: str


@dataclass(frozen=True, slots=True)
class Failure:
    """An evaluation that failed for another reason: a type that does not fit, a bad quantity."""

    text: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression."""

    source: str
    program: Any

    def evaluate(self, subject: Any) -> Any:
        """The plain value on the data of an `activation`, or what stood in the way."""
        try:
            result = self.program.eval(subject)
        except RuntimeError as error:
            return Failure(str(error))
        if result.type().name() != "ERROR":
            return result.plain_value()
        text = str(result.value())
        missing = _MISSING.search(text)
        return Missing(missing[1]) if missing else Failure(text)


@cache
def _environment() -> Any:
    cel: Any = import_module("cel_expr_python.cel")  # 14 MB of shared library, only loaded to judge
    text, number, truth = cel.Type.STRING, cel.Type.DOUBLE, cel.Type.BOOL
    one, two = [text], [text, text]

    def declare(name: str, parameters: list[Any], result: Any, call: Any, *, member: bool) -> Any:
        overload = cel.Overload(f"chartgen_{name}", result, parameters, member, call)
        return cel.FunctionDecl(name, [overload])

    extension = cel.CelExtension(
        "kubernetes",
        [
            declare("quantity", one, number, functions.quantity, member=False),
            declare("isQuantity", one, truth, functions.is_quantity, member=False),
            declare("find", two, text, functions.find, member=True),
            declare("findAll", two, cel.Type.List(text), functions.find_all, member=True),
        ],
    )
    environment = cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(_CONFIG),
        variables=dict.fromkeys(NAMES | {"variables", "params"}, cel.Type.DYN),
        extensions=[extension],
    )
    # Unknown extension names are accepted in silence, so that what policies rely on is tried once.
    if environment.compile(_SELF_TEST).eval(data={}).plain_value() is not True:
        msg = "the installed CEL engine lacks functions that policies use"
        raise ImportError(msg)
    return environment


def compile_expression(source: str) -> Expression:
    """Compile an expression.

    Raises:
        ExpressionError: with the engine's own words, line and column.
    """
    try:
        return Expression(source, _environment().compile(source))
    except (RuntimeError, ValueError) as error:
        raise ExpressionError(str(error)) from error


def activation(data: Mapping[str, Any]) -> Any:
    """The data that expressions are evaluated on; it is copied into the engine once."""
    return _environment().Activation(dict(data))
