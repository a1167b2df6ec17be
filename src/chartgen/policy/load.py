"""Policies from a folder: one file each, `<stage>/<id>.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Final

from chartgen.kernel import library
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.kernel.structure import build, problems_of, structure
from chartgen.kernel.text_file import read_text
from chartgen.kernel.yaml_source import Document, read
from chartgen.policy.types import Policy

_CASES: Final = "\ncases:\n"
"""Where the examples start. They come last in a file, and linting does not read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A policy file of the user's, so that what is wrong can be told at its place."""

    path: Path
    """The file."""
    document: Document
    """What it holds, with the position of each key."""

    def problem(self, steps: Sequence[str | int], *, found: object, expected: str) -> InputProblem:
        """What is wrong at a key of the file."""
        return InputProblem(
            file=str(self.path),
            position=self.document.position(steps),
            path=".".join(map(str, steps)),
            found=str(found),
            expected=expected,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySet:
    """Policies by id, in the order of their stages and names."""

    policies: Mapping[str, Policy]
    """All of them."""
    added: Mapping[str, Source] = field(default_factory=dict)
    """Where those of the user's folders stand, by id."""
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
        InputError: a file of the user's folders is no policy, or two of them have one id.
    """
    policies = dict(ours(cases=cases))
    notes: list[str] = []
    added: dict[str, Source] = {}
    problems: list[InputProblem] = []
    for folder in folders:
        found_files = (path for path in folder.rglob("*") if path.suffix in {".yaml", ".yml"})
        files = sorted(path for path in found_files if path.is_file() or not path.exists())
        if not files:
            found = "no .yaml or .yml file in it" if folder.is_dir() else "no folder"
            problems.append(_problem(folder, found=found, expected="a folder of policies"))
        for path in files:
            try:
                policy, source = load_file(path)
            except InputError as error:
                problems += error.problems
                continue
            if policy.id in added:
                expected = f"one file for each policy: {added[policy.id].path} is it already"
                problems.append(source.problem(("id",), found=policy.id, expected=expected))
            elif policy.id in policies:
                notes.append(f"{path} overrides the policy {policy.id}")
            policies[policy.id] = policy
            added[policy.id] = source
    if problems:
        raise InputError(problems)
    return PolicySet(policies=policies, added=added, notes=tuple(notes))


@cache
def ours(*, cases: bool) -> Mapping[str, Policy]:
    """The policies that chartgen ships. Without `cases` the examples, most of the text, are not read."""
    found = {}
    for path in sorted(library.folder("policies").glob("*/*.yaml")):
        text = path.read_text(encoding="utf-8")
        (document,) = read(text if cases else text.partition(_CASES)[0], path.name)
        found[path.stem] = build(document.value, Policy)
    return found


def load_file(path: Path) -> tuple[Policy, Source]:
    """One policy of the user's, with every mistake in it named at its place.

    Raises:
        InputError: the file cannot be read, or is no policy.
    """
    documents = list(read(read_text(path), str(path)))
    if len(documents) != 1:
        raise InputError([_problem(path, found=f"{len(documents)} documents", expected="one policy a file")])
    source = Source(path=path, document=documents[0])
    problems = problems_of(source.document, Policy, str(path)) + list(_house_rules(source))
    if problems:
        raise InputError(problems)
    return structure(source.document, Policy, str(path)), source


def _house_rules(source: Source) -> Iterator[InputProblem]:
    """What the schema cannot say: the id is the file name, and a case has one verdict."""
    value = source.document.value if isinstance(source.document.value, dict) else {}
    if value.get("id") != source.path.stem:
        yield source.problem(("id",), found=value.get("id"), expected=f"{source.path.stem!r}")
    cases = value.get("cases")
    for index, case in enumerate(cases if isinstance(cases, list) else []):
        verdicts = [key for key in ("pass", "fail", "unknown") if isinstance(case, dict) and key in case]
        if len(verdicts) != 1:
            found = " and ".join(verdicts) or "no verdict"
            yield source.problem(("cases", index), found=found, expected="one of pass, fail and unknown")


def _problem(path: Path, *, found: str, expected: str) -> InputProblem:
    return InputProblem(file=str(path), position=None, path="", found=found, expected=expected)
