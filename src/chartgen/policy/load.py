"""Policies from a folder: one file each, `<stage>/<id>.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from chartgen.kernel import library
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.structure import build, problems_of, structure
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import Document, read
from chartgen.policy.types import Policy

_CASES: Final = "\ncases:\n"
"""Where the examples start. They come last in a file, and linting does not read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySet:
    """Policies by id, in the order of their stages and names."""

    policies: Mapping[str, Policy]
    """All of them."""
    added: tuple[Policy, ...] = ()
    """Those of the user's folders."""
    notes: tuple[str, ...] = ()
    """What was said while loading them: which of ours they override."""

    def get(self, name: str) -> Policy:
        """The policy `name`.

        Raises:
            UnknownName: there is none.
        """
        if name not in self.policies:
            raise UnknownName("policy", name, self.policies)
        return self.policies[name]


def load(folders: Iterable[Path] = (), *, cases: bool = False) -> PolicySet:
    """Our policies, then those of the user's folders, which may override ours and say so.

    Raises:
        InputError: a file of the user's folders is no policy.
    """
    policies = dict(ours(cases=cases))
    notes: list[str] = []
    added: list[Policy] = []
    problems: list[InputProblem] = []
    for folder in folders:
        if not folder.is_dir():
            problems.append(_problem(folder, found="no folder", expected="a folder of policies"))
        for path in sorted(folder.rglob("*.yaml")):
            try:
                policy = load_file(path)
            except InputError as error:
                problems += error.problems
                continue
            if policy.id in policies:
                notes.append(f"{path} overrides the policy {policy.id}")
            policies[policy.id] = policy
            added.append(policy)
    if problems:
        raise InputError(problems)
    return PolicySet(policies=policies, added=tuple(added), notes=tuple(notes))


@cache
def ours(*, cases: bool) -> Mapping[str, Policy]:
    """The policies that chartgen ships. Without `cases` the examples, most of the text, are not read."""
    found = {}
    for path in sorted(library.folder("policies").glob("*/*.yaml")):
        text = path.read_text(encoding="utf-8")
        (document,) = read(text if cases else text.partition(_CASES)[0], path.name)
        found[path.stem] = build(document.value, Policy)
    return found


def load_file(path: Path) -> Policy:
    """One policy of the user's, with every mistake in it named at its place.

    Raises:
        InputError: the file cannot be read, or is no policy.
    """
    documents = list(read(read_text(path), str(path)))
    if len(documents) != 1:
        raise InputError([_problem(path, found=f"{len(documents)} documents", expected="one policy a file")])
    problems = problems_of(documents[0], Policy, str(path))
    problems += _house_rules(documents[0], path)
    if problems:
        raise InputError(problems)
    return structure(documents[0], Policy, str(path))


def _house_rules(document: Document, path: Path) -> list[InputProblem]:
    """What the schema cannot say: the id is the file name, and a case has one verdict."""
    value = document.value if isinstance(document.value, dict) else {}
    problems = []
    if value.get("id") != path.stem:
        problems.append(_problem(path, document, ("id",), found=value.get("id"), expected=f"{path.stem!r}"))
    cases = value.get("cases")
    for index, case in enumerate(cases if isinstance(cases, list) else []):
        verdicts = [key for key in ("pass", "fail", "unknown") if isinstance(case, dict) and key in case]
        if len(verdicts) != 1:
            found = " and ".join(verdicts) or "no verdict"
            expected = "one of pass, fail and unknown"
            problems.append(_problem(path, document, ("cases", index), found=found, expected=expected))
    return problems


def _problem(
    path: Path,
    document: Document | None = None,
    steps: tuple[str | int, ...] = (),
    *,
    found: object,
    expected: str,
) -> InputProblem:
    return InputProblem(
        file=str(path),
        position=document.position(steps) if document else None,
        path=".".join(map(str, steps)),
        found=str(found),
        expected=expected,
    )
