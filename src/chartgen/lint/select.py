"""Which policies are asked: by level, then what the user selects and ignores, in whatever order."""

from __future__ import annotations

from collections.abc import Iterable

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.policy.load import PolicySet
from chartgen.policy.types import LEVELS, Level, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the user asks of the policies."""

    level: Level = "recommended"
    """How much is said: minimum says errors, recommended warnings too, strict everything."""
    select: tuple[str, ...] = ()
    """Only these: ids or stages; they are asked at any level."""
    ignore: tuple[str, ...] = ()
    """All but these: ids or stages. Ignoring wins over selecting."""


def chosen(policies: PolicySet, selection: Selection) -> list[Policy]:
    """The policies to ask, in the order of the set.

    Raises:
        InputError: a selected or ignored name is neither a policy nor a stage.
    """
    _check((*selection.select, *selection.ignore), names_of(policies))
    found = []
    for policy in policies.policies.values():
        names = {policy.id, policy.stage}
        asked = bool(names & set(selection.select)) if selection.select else _at_level(policy, selection.level)
        if asked and not names & set(selection.ignore):
            found.append(policy)
    return found


def names_of(policies: PolicySet) -> set[str]:
    """What can be selected or ignored: every policy's id, and every stage."""
    return {*policies.policies, *(policy.stage for policy in policies.policies.values())}


def _at_level(policy: Policy, level: Level) -> bool:
    return policy.severity in LEVELS[level]


def _check(names: Iterable[str], known: set[str]) -> None:
    problems = [
        unknown("--select or --ignore", UnknownName("policy or stage", name, known))
        for name in names
        if name not in known
    ]
    if problems:
        raise InputError(problems)


def unknown(option: str, error: UnknownName) -> InputProblem:
    """The problem of an option that names something nobody knows."""
    return InputProblem(
        file=option, position=None, path="", found=error.name, expected=f"a {error.kind}", nearest=error.nearest
    )
