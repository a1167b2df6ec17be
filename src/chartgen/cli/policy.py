"""`chartgen policy`: the policies as a list, a page, a test run, documentation, admission policies."""

from __future__ import annotations

import json
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chartgen.cli import outcome
from chartgen.kernel.errors import InputError, InputProblem, UnknownName
from chartgen.policy.types import SEVERITIES

if TYPE_CHECKING:
    from chartgen.policy.load import PolicySet
    from chartgen.policy.parameters import Given
    from chartgen.policy.types import Policy

_PATH = click.Path(path_type=Path)
_FOLDERS = click.option(
    "--policies",
    "folders",
    multiple=True,
    type=_PATH,
    metavar="FOLDER",
    help="Policies of your own.",
)
_FORMAT = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group(name="policy", help="Show, test, document and export the policies of `chartgen lint`.")
def command() -> None:  # noqa: D103 - the help text above documents it
    pass


def _load(folders: Iterable[Path], *, cases: bool = False) -> PolicySet:
    """Ours and the user's, whose expressions are compiled before anything is said of them."""
    from chartgen.policy.load import load

    policies = load(folders, cases=cases)
    if policies.added:
        from chartgen.lint.policy_check import check

        check(policies)
    return _announced(policies)


def _announced(policies: PolicySet) -> PolicySet:
    for note in policies.notes:
        outcome.say(note)
    return policies


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
        told = ", ".join(f"{counts[name]} {name}" for name in reversed(SEVERITIES) if counts[name])
        outcome.say(f"{_policies(len(policies))}: {told}")


@command.command(
    name="show",
    short_help="Why a policy stands, examples, the fix.",
    help="Why a policy stands, an example that fails, one that passes, and the fix.",
)
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
        outcome.say(f"{cases} examples of {_policies(len(policies))}, {len(wrong)} disagree")
    raise click.exceptions.Exit(outcome.FINDINGS if wrong else outcome.OK)


@command.command(
    name="docs", help="Write a page for each policy, an index, and the pages of views, own policies and clusters."
)
@click.option("-o", "--out", type=_PATH, default=Path("docs/policies"), show_default=True)
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
    from chartgen.kernel.output import make_folders, write_files

    make_folders(sorted({(out / name).parent for name in made}))
    write_files({out / name: text.encode() for name, text in made.items()})
    for name in stale:
        (out / name).unlink()


@command.command(
    name="export",
    short_help="Print them as admission policies.",
    help="Print admission policies for a cluster, for kubectl apply: of the policies named, or of all. "
    "What a cluster cannot be asked is listed with the reason.",
)
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option(
    "--as",
    "form",
    type=click.Choice(["vap", "kyverno"]),
    default="vap",
    show_default=True,
    help="A ValidatingAdmissionPolicy with its binding, or a ValidatingPolicy of Kyverno.",
)
@click.option(
    "--action",
    "actions",
    multiple=True,
    type=click.Choice(["Warn", "Audit", "Deny"]),
    default=("Warn", "Audit"),
    show_default=True,
    help="What the cluster does with a finding; may be given several times.",
)
@click.option(
    "--config", type=_PATH, metavar="FILE", help="Take parameters and policy folders of this lint configuration."
)
@click.option(
    "--namespace",
    default="kube-system",
    show_default=True,
    help="Where the ConfigMaps of parameters live (vap): who may write there may loosen the policies.",
)
@_FOLDERS
def export(  # noqa: D103
    names: tuple[str, ...],
    form: Any,
    actions: tuple[Any, ...],
    config: Path | None,
    namespace: str,
    folders: tuple[Path, ...],
) -> None:
    with outcome.exit_codes():
        from chartgen.policy import export as exports

        policies, given = _configured(config, folders)
        parameters = exports.Parameters(given=given, namespace=namespace)
        exported = []
        left: dict[str, list[str]] = defaultdict(list)
        for policy in _chosen(policies, names):
            reason = exports.obstacle(policy)
            if reason is None:
                exported.append(policy.id)
                for document in exports.export(policy, form, actions, parameters):
                    # JSON is YAML: nothing in an expression can be read as anything but text.
                    click.echo(f"---\n{json.dumps(document, indent=2, ensure_ascii=False)}")
            else:
                left[reason].append(policy.id)
        _tell_export(
            exported, left, f"Kubernetes {exports.MINIMUM_KUBERNETES} or later" if form == "vap" else "Kyverno"
        )
    raise click.exceptions.Exit(outcome.FINDINGS if names and left else outcome.OK)


def _configured(config: Path | None, folders: tuple[Path, ...]) -> tuple[PolicySet, Given]:
    """The policies, and the values for their parameters, of a lint configuration that is named."""
    if config is None:
        return _load(folders), {}
    from chartgen.lint.config import load_config
    from chartgen.lint.policy_check import configured

    read = load_config(config)
    return _announced(configured(read, folders)), read.settings.parameters


def _tell_export(exported: list[str], left: dict[str, list[str]], needs: str) -> None:
    """What was exported, and what was not: by reason, each policy named."""
    for reason, names in left.items():
        lines = textwrap.wrap(", ".join(names), width=100, break_on_hyphens=False, break_long_words=False)
        outcome.say(f"not exported, {reason}:")
        for line in lines:
            outcome.say(f"  {line}")
    alone = sum(map(len, left.values()))
    asked = f"; {_policies(alone)} for chartgen lint alone" if left else ""
    outcome.say(f"{_policies(len(exported))} exported, for {needs}{asked}")


def _policies(count: int) -> str:
    return f"{count} {'policy' if count == 1 else 'policies'}"
