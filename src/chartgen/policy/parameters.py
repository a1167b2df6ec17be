"""Parameters of policies: what a house may set otherwise, with a default in the policy file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.structure import replaced
from chartgen.policy.expressions import with_parameters
from chartgen.policy.types import Policy, Value

Given: TypeAlias = Mapping[str, Mapping[str, Value]]
"""Values for parameters, by policy and name."""


def values_of(policy: Policy, given: Given) -> dict[str, Value]:
    """The value of every parameter of a policy: as given, else its default."""
    own = given.get(policy.id, {})
    return {name: own.get(name, parameter.default) for name, parameter in policy.parameters.items()}


def literal(value: Value) -> str:
    """A value as a CEL expression. JSON's texts, numbers and lists are CEL's."""
    return json.dumps(value, ensure_ascii=False)


def settled(policy: Policy, given: Given) -> Policy:
    """The policy with the values of its parameters in its expressions."""
    values = values_of(policy, given)
    return spelled(policy, lambda name: literal(values[name]) if name in values else f"parameters.{name}")


def spelled(policy: Policy, spelling: Callable[[str], str]) -> Policy:
    """The policy with each parameter in its expressions spelled otherwise."""
    if not policy.parameters:
        return policy
    texts: dict[str, Any] = {
        key: with_parameters(text, spelling)
        for key in ("when", "require", "message")
        if (text := getattr(policy, key)) is not None
    }
    return replaced(policy, **texts)


def check_given(given: Given, policies: Mapping[str, Policy], file: str) -> None:
    """Hold values against the policies that they are for.

    Raises:
        InputError: a policy or parameter that is not there, or a value of another type than the default.
    """
    problems = []
    for policy, values in given.items():
        if policy not in policies:
            problems.append(_unknown(file, f"parameters.{policy}", UnknownName("policy", policy, policies)))
            continue
        parameters = policies[policy].parameters
        for name, value in values.items():
            where = f"parameters.{policy}.{name}"
            if name not in parameters:
                problems.append(_unknown(file, where, UnknownName("parameter", name, parameters)))
            elif isinstance(value, int) is not isinstance(parameters[name].default, int):
                expected = "a whole number" if isinstance(value, tuple) else "a list of texts"
                problems.append(
                    InputProblem(file=file, position=None, path=where, found=literal(value), expected=expected)
                )
    if problems:
        raise InputError(problems)


def _unknown(file: str, path: str, error: UnknownName) -> InputProblem:
    return InputProblem(
        file=file,
        position=None,
        path=path,
        found=error.name,
        expected=f"a {error.kind} that has parameters" if error.kind == "policy" else f"a {error.kind} of the policy",
        nearest=error.nearest,
    )
