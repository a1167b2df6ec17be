"""`chartgen engine`: what a vLLM release knows, what an upgrade changes, what a release makes of a command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chartgen.cli import outcome

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine

_FORM = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The form.",
)


@click.group(name="engine")
def command() -> None:
    """Ask the catalogue of vLLM releases."""


@command.command(name="show")
@click.argument("release")
@_FORM
def show(release: str, form: str) -> None:
    """Print everything that is known of RELEASE: flags, gone flags, metrics, endpoints, features."""
    with outcome.exit_codes():
        from chartgen.report import engine_texts

        click.echo(engine_texts.release(_engine(release), form))


@command.command(name="diff")
@click.argument("old")
@click.argument("new")
@click.option("--profile", type=click.Path(path_type=Path), help="Also show which values of this profile change.")
@_FORM
def diff(old: str, new: str, profile: Path | None, form: str) -> None:
    """Say what changes from release OLD to release NEW: flags, metrics, defaults and memory."""
    with outcome.exit_codes():
        from chartgen.catalog.engine_diff import difference
        from chartgen.report import engine_texts

        found = difference(_engine(old), _engine(new))
        values = []
        if profile is not None:
            from chartgen.report.upgrades import changed_values

            values = changed_values(profile, found.old, found.new)
        click.echo(engine_texts.differences(found, values, form))


@command.command(name="check", context_settings={"ignore_unknown_options": True})
@click.option("--release", help="The release to check against; the newest when it is not given.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable of the container.")
@_FORM
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
def check(release: str | None, variables: tuple[str, ...], form: str, words: tuple[str, ...]) -> None:
    """Name what a release does not know in a command line, with what to write instead.

    WORDS is a command line: `chartgen engine check -- vllm serve m --swap-space 16`, one quoted shell string, or
    `-` to read a script from standard input. Exits with 1 when the release would refuse it.
    """
    with outcome.exit_codes():
        from chartgen.catalog import engine_check
        from chartgen.catalog.command_line import read
        from chartgen.catalog.command_types import CommandLine
        from chartgen.catalog.engines import newest
        from chartgen.report import engine_texts

        engine = _engine(release or newest())
        shell = words == ("-",) or (len(words) == 1 and " " in words[0])
        script = sys.stdin.read() if words == ("-",) else words[0]
        line = read(
            command=["sh", "-c", script] if shell else [],
            args=[] if shell else list(words),
            env=dict(_variable(text) for text in variables),
            engine=engine,
            image_starts_engine=words[0] not in {"vllm", "python", "python3"},
        )
        if not isinstance(line, CommandLine):
            raise click.ClickException(line.because)
        remarks = engine_check.check(line, engine)
        click.echo(engine_texts.checked(line, remarks, engine, form))
        if any(remark.outcome in engine_check.FATAL for remark in remarks):
            raise click.exceptions.Exit(outcome.FINDINGS)


def _variable(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _engine(release: str) -> Engine:
    """The release, or an input error that names the nearest."""
    from chartgen.catalog.engines import engine
    from chartgen.kernel.errors import InputError, InputProblem, UnknownName

    try:
        return engine(release)
    except UnknownName as unknown:
        problem = InputProblem(
            file="command line",
            position=None,
            path="",
            found=repr(release),
            expected=unknown.hint or "a vLLM release",
            nearest=unknown.nearest,
        )
        raise InputError([problem]) from unknown
