"""Policies that somebody else wrote: their expressions and paths, compiled before anything is judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.lint import paths
from chartgen.lint.cel import ExpressionError, Failure, activation, compile_expression
from chartgen.lint.config import Config, ConfigFile
from chartgen.lint.judge import Rule
from chartgen.lint.select import names_of
from chartgen.lint.views.cloud import CLOUDS, unknown_cloud
from chartgen.policy.expressions import VARIABLES, names_in, parameters_in
from chartgen.policy.load import PolicySet, Source, load
from chartgen.policy.parameters import check_given, settled
from chartgen.policy.types import Policy

_ENGINE: Final = re.compile(r"ERROR: <input>:(?P<line>\d+):(?P<column>\d+): (?P<words>[^\n]*)")
_MACRO_VARIABLE: Final = re.compile(r"\.(?:all|exists|exists_one|filter|map)\(\s*(\w+)\s*,")
_PATTERN: Final = re.compile(r"""\.(?:matches|find|findAll)\(\s*[rR]?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\)""")
"""A call with a regular expression that is written out."""
_TRUTHS: Final = frozenset({"when", "require"})
"""The keys whose expressions give true or false; the others give text."""
_ANCHORS: Final = ("object", "pod", "container", "item")
_DOTTED: Final = " (in container '')"


def configured(config: ConfigFile, folders: Iterable[Path]) -> PolicySet:
    """Our policies and the user's, of a configuration and of more folders; the configuration's names are theirs.

    Raises:
        InputError: as for `load` and `check`; the configuration names a policy, stage or parameter that there is not.
    """
    policies = load([*map(Path, config.settings.policies), *folders])
    check(policies)
    if config.source is not None:
        problems = [*_names(config, policies), *_parameters(config.settings, config.source, policies)]
        if problems:
            raise InputError(problems)
    return policies


def _names(config: ConfigFile, policies: PolicySet) -> Iterator[InputProblem]:
    known = names_of(policies)
    for key, names in (("select", config.settings.select), ("ignore", config.settings.ignore)):
        for index, name in enumerate(names):
            if name not in known:
                yield config.unknown((key, index), UnknownName("policy or stage", name, known))
    cloud = config.settings.cloud
    if cloud is not None and cloud not in CLOUDS:
        yield config.unknown(("cloud",), unknown_cloud(cloud))


def _parameters(settings: Config, source: Source, policies: PolicySet) -> Iterator[InputProblem]:
    try:
        check_given(settings.parameters, policies.policies, str(source.path))
    except InputError as error:
        for problem in error.problems:
            yield replace(problem, position=source.document.position(problem.path.split(".")))


def check(policies: PolicySet) -> None:
    """Compile every expression and path of the policies of the user's folders.

    Raises:
        InputError: with the file, the key's place and the engine's own words.
    """
    problems = [
        problem for name, source in policies.added.items() for problem in _problems(policies.policies[name], source)
    ]
    if problems:
        raise InputError(problems)


def _problems(policy: Policy, source: Source) -> list[InputProblem]:
    problems = [*_expressions(policy, source), *_paths(policy, source)]
    if policy.each and not problems and (found := _fault(lambda: Rule(policy).whole)):
        expected = "a list and an expression that can be asked of each entry"
        problems.append(source.problem(("each",), found=found, expected=expected))
    return problems


def _expressions(policy: Policy, source: Source) -> Iterator[InputProblem]:
    compiled = settled(policy, {})
    expressions: list[tuple[tuple[str, ...], Any, Any]]
    expressions = [((key,), getattr(policy, key), getattr(compiled, key)) for key in ("when", "require", "message")]
    if policy.edit is not None:
        expressions += [(("edit", "when"), policy.edit.when, policy.edit.when)]
        expressions += [(("edit", "set"), policy.edit.set_, policy.edit.set_)]
    for key, written, text in expressions:
        if written is None:
            continue
        kind, use = ("true or false", "? true : false") if key[-1] in _TRUTHS else ("text", '+ ""')
        found = _undeclared(policy, written) or _fault(partial(compile_expression, text)) or _bad_pattern(text)
        if found:
            yield source.problem(key, found=found, expected="a CEL expression of the policy's scope")
        elif _fault(partial(compile_expression, f"(\n{text}\n) {use}")):  # on its own lines: it may end in a comment
            yield source.problem(key, found=f"an expression that never gives {kind}", expected=f"one that gives {kind}")


def _paths(policy: Policy, source: Source) -> Iterator[InputProblem]:
    if policy.each and (found := _fault(partial(_read_lists, policy))):
        yield source.problem(("each",), found=found, expected="a path to a list, such as spec.containers[].env")
    if policy.at and (found := _fault(partial(_read_place, policy.at))):
        yield source.problem(("at",), found=found, expected=f"a path that starts at {', '.join(_ANCHORS)}")


def _read_lists(policy: Policy) -> None:
    for each in paths.parse_each(policy.each or ""):
        if each.start not in VARIABLES[policy.scope] or not each.segments[0]:
            msg = f"{policy.each!r}, which starts at no variable of scope {policy.scope} or names no list"
            raise ValueError(msg)


def _read_place(text: str) -> None:
    if paths.parse(text).start not in _ANCHORS:
        msg = f"{text!r}, which starts elsewhere"
        raise ValueError(msg)


def _undeclared(policy: Policy, text: str) -> str:
    """What compiles and yet is nowhere: a variable of another scope, an item without a list, a parameter."""
    variables = VARIABLES[policy.scope] | {"cluster"} | ({"item"} if policy.each else set())
    strange = sorted(names_in(text) - variables - set(_MACRO_VARIABLE.findall(text)))
    if strange:
        known = ", ".join(sorted(variables))
        return f"{strange[0]!r}, which scope {policy.scope} does not have (it has {known})"
    missing = sorted(parameters_in(text) - set(policy.parameters))
    return f"parameters.{missing[0]}, which the policy does not declare" if missing else ""


def _bad_pattern(text: str) -> str:
    """What the engine says of a regular expression that is none: it is tried on an empty text."""
    for call in _PATTERN.findall(text):
        result = compile_expression(f'""{call}').evaluate(activation({}))
        if isinstance(result, Failure):
            return f"{call.partition('(')[2].removesuffix(')').strip()}, no regular expression: {result.text}"
    return ""


def _fault(compiled: Callable[[], object]) -> str:
    """What the engine says of an expression that does not compile, on one line."""
    try:
        compiled()
    except ExpressionError as error:
        found = _ENGINE.search(str(error))
        if found is None:
            return str(error)
        where = f"line {found['line']}, column {found['column']} of the expression"
        return f"{found['words'].removesuffix(_DOTTED)} ({where})"
    except ValueError as error:
        return str(error)
    return ""
