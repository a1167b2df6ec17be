"""`chartgen lint`: what will break in any manifests, where, and what to write instead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chartgen.cli import outcome
from chartgen.policy.types import LEVELS, SEVERITIES, Level

if TYPE_CHECKING:
    from chartgen.lint.finding import Outcome


@click.command(name="lint", help="Name what will break in each PATH: a file, a folder, or - for standard input.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--level", type=click.Choice(list(LEVELS)), default="recommended", show_default=True, help="How much is said."
)
@click.option("--select", multiple=True, metavar="NAME", help="Ask only this policy or stage, at any level.")
@click.option("--ignore", multiple=True, metavar="NAME", help="Leave this policy or stage out.")
@click.option(
    "--fail-on",
    type=click.Choice([*SEVERITIES, "never"]),
    default="error",
    show_default=True,
    help="The mildest severity that gives exit code 1.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="NAME[=FILE]",
    help="text, json, sarif, junit, github or gitlab; may be given several times.",
)
@click.option("--show", multiple=True, type=click.Choice(["allowed", "unknown"]), help="Tell these as well.")
@click.option(
    "--policies",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="A folder of your own policies.",
)
def command(  # noqa: D103 - the help text above documents it
    paths: tuple[str, ...],
    level: Level,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    formats: tuple[str, ...],
    show: tuple[str, ...],
    folders: tuple[Path, ...],
) -> None:
    with outcome.exit_codes():
        from chartgen.lint.inputs import read_inputs
        from chartgen.lint.run import Request, lint
        from chartgen.lint.select import Selection
        from chartgen.policy.load import load

        request = Request(
            policies=load(folders),
            inputs=read_inputs(paths, stdin=sys.stdin.buffer.read),
            selection=Selection(level=level, select=select, ignore=ignore),
        )
        said = lint(request)
        _report(said, formats or ("text",), frozenset(show))
    raise click.exceptions.Exit(_exit_code(said, fail_on))


def _report(said: Outcome, formats: tuple[str, ...], show: frozenset[str]) -> None:
    """Each format to its file, or to standard output."""
    from chartgen.report.findings import FORMATS, Style, write

    for chosen in formats:
        name, _, file = chosen.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}", param_hint="--format")
        style = Style(color=not file and sys.stdout.isatty(), show=show)
        text = write(name, said, style)
        if file:
            Path(file).write_text(text, encoding="utf-8")
        else:
            click.echo(text, nl=False)


def _exit_code(said: Outcome, fail_on: str) -> int:
    if said.stumbles:
        return outcome.OURS
    if any(unread.fate == "failed" for unread in said.unread):
        return outcome.INPUT
    if fail_on == "never":
        return outcome.OK
    worst = max((SEVERITIES.index(one.policy.severity) for one in said.findings), default=-1)
    return outcome.FINDINGS if worst >= SEVERITIES.index(fail_on) else outcome.OK
