"""`chartgen policy`: the policies as a list, a page, a test run, documentation, admission policies."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chartgen.cli import outcome
from chartgen.kernel.errors import InputError, InputProblem, UnknownName

if TYPE_CHECKING:
    from chartgen.policy.load import PolicySet
    from chartgen.policy.types import Policy

_FOLDERS = click.option(
    "--policies",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Policies of your own.",
)
_FORMAT = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group(name="policy", help="Show, test, document and export the policies of `chartgen lint`.")
def command() -> None:  # noqa: D103 - the help text above documents it
    pass


def _load(folders: tuple[Path, ...], *, cases: bool = False) -> PolicySet:
    from chartgen.policy.load import load

    return load(folders, cases=cases)


def _chosen(policies: PolicySet, names: tuple[str, ...]) -> list[Policy]:
    """The named policies, or all; every unknown name is told at once."""
    found, problems = [], []
    for name in names:
        try:
            found.append(policies.get(name))
        except UnknownName as error:
            problems.append(
                InputProblem(
                    file="policy", position=None, path="", found=name, expected="a policy's id", nearest=error.nearest
                )
            )
    if problems:
        raise InputError(problems)
    return found if names else list(policies.policies.values())


@command.command(name="list", help="Every policy with its severity and what it demands.")
@_FOLDERS
@_FORMAT
def list_(folders: tuple[Path, ...], form: str) -> None:  # noqa: D103
    with outcome.exit_codes():
        policies = _load(folders).policies.values()
        if form == "json":
            keys = ("id", "title", "stage", "severity", "status", "scope")
            click.echo(json.dumps([{key: getattr(one, key) for key in keys} for one in policies], indent=2))
            return
        width = max(len(one.id) for one in policies)
        for one in policies:
            click.echo(f"{one.id.ljust(width)}  {one.severity:7}  {one.stage:13}  {one.title}")
        counts = Counter(one.severity for one in policies)
        outcome.say(
            f"{len(list(policies))} policies: " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
        )


@command.command(name="show", help="Why a policy stands, an example that fails, one that passes, and the fix.")
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@_FOLDERS
@_FORMAT
def show(names: tuple[str, ...], folders: tuple[Path, ...], form: str) -> None:  # noqa: D103
    with outcome.exit_codes():
        from chartgen.kernel.structure import to_plain
        from chartgen.policy.pages import NOTE, page

        for policy in _chosen(_load(folders, cases=True), names):
            text = page(policy).removeprefix(NOTE).lstrip()
            click.echo(json.dumps(to_plain(policy), indent=2) if form == "json" else text, nl=form == "json")


@command.command(name="test", help="Run the examples of policies: of all, or of those named.")
@click.argument("names", nargs=-1, metavar="[ID]...")
@_FOLDERS
def test(names: tuple[str, ...], folders: tuple[Path, ...]) -> None:  # noqa: D103
    with outcome.exit_codes():
        from chartgen.lint.cases import run_cases

        policies = _chosen(_load(folders, cases=True), names)
        wrong = [found for policy in policies for found in run_cases(policy)]
        for one in wrong:
            click.echo(f"{one.policy}: {one.case or 'its examples'}: expected {one.expected}, got {one.found}")
        cases = sum(len(policy.cases) for policy in policies)
        outcome.say(f"{cases} examples of {len(policies)} policies, {len(wrong)} disagree")
    raise click.exceptions.Exit(outcome.FINDINGS if wrong else outcome.OK)


@command.command(name="docs", help="Write a page for each policy, an index, and the page of views.")
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("docs/policies"), show_default=True)
@click.option("--check", is_flag=True, help="Write nothing; fail where a page differs.")
@_FOLDERS
def docs(out: Path, *, check: bool, folders: tuple[Path, ...]) -> None:  # noqa: D103
    with outcome.exit_codes():
        from chartgen.lint.fields import views_page
        from chartgen.policy.pages import pages

        made = pages(_load(folders, cases=True).policies, {"views.md": views_page()})
        there = {path.relative_to(out).as_posix() for path in out.rglob("*.md")} if out.is_dir() else set()
        stale = sorted(there - set(made))
        changed = [name for name, text in made.items() if not _holds(out / name, text)]
        for name in [*changed, *stale]:
            click.echo(f"{out / name}{' is stale' if check else ''}")
        if not check:
            _write(out, {name: made[name] for name in changed}, stale)
        outcome.say(f"{len(made)} pages, {len(changed)} changed, {len(stale)} removed")
    raise click.exceptions.Exit(outcome.FINDINGS if check and (changed or stale) else outcome.OK)


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _write(out: Path, made: dict[str, str], stale: list[str]) -> None:
    for name, text in made.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")
    for name in stale:
        (out / name).unlink()


@command.command(
    name="export", help="Print admission policies for a cluster: of all policies that it can ask, or of those named."
)
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--as", "form", type=click.Choice(["vap", "kyverno"]), default="vap", show_default=True)
@click.option(
    "--action",
    "actions",
    multiple=True,
    type=click.Choice(["Warn", "Audit", "Deny"]),
    default=("Warn", "Audit"),
    show_default=True,
    help="What the cluster does with a finding.",
)
@_FOLDERS
def export(names: tuple[str, ...], form: Any, actions: tuple[Any, ...], folders: tuple[Path, ...]) -> None:  # noqa: D103
    with outcome.exit_codes():
        from chartgen.policy import export as exports

        documents: list[dict[str, Any]] = []
        left = []
        for policy in _chosen(_load(folders), names):
            reason = exports.obstacle(policy)
            if reason is None:
                documents += exports.export(policy, form, actions)
            else:
                left.append(f"{policy.id}: {reason}")
        for document in documents:
            # JSON is YAML: nothing in an expression can be read as anything but text.
            click.echo(f"---\n{json.dumps(document, indent=2, ensure_ascii=False)}")
        for line in left if names else []:
            outcome.say(line)
        outcome.say(
            f"{len(documents)} objects; {len(left)} policies need more than a cluster shows: chartgen lint asks them"
        )
    raise click.exceptions.Exit(outcome.FINDINGS if names and left else outcome.OK)
