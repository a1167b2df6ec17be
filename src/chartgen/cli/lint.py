"""`chartgen lint`: what will break in any manifests, where, and what to write instead."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chartgen.cli import outcome
from chartgen.kernel.errors import InputError, InputProblem
from chartgen.policy.types import LEVELS, SEVERITIES

if TYPE_CHECKING:
    from chartgen.lint.chart_input import ChartReader
    from chartgen.lint.finding import Outcome
    from chartgen.lint.manifest import Inputs
    from chartgen.lint.run import Request

_PATH = click.Path(path_type=Path)


@click.command(
    name="lint", help="Name what will break in each PATH: a file, a chart, a folder, or - for standard input."
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--level", type=click.Choice(list(LEVELS)), help="How much is said; recommended by default.")
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
@click.option("--fix", is_flag=True, help="Make the edits that have one right answer.")
@click.option("--diff", is_flag=True, help="Show those edits and make none.")
@click.option("--kubernetes", multiple=True, metavar="1.NN", help="A Kubernetes minor; the newest known by default.")
@click.option(
    "--cloud", metavar="NAME", help="Whose Kubernetes it is, where they do not tell: gke, eks, aks, coreweave."
)
@click.option("-f", "--values", multiple=True, type=_PATH, metavar="FILE", help="Values for charts.")
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="A value for charts, as helm --set reads it.")
@click.option(
    "--helm", type=click.Choice(["auto", "library", "binary"]), default="auto", help="Which Helm renders charts."
)
@click.option("--config", type=_PATH, metavar="FILE", help="Settings; .chartgen-lint.yaml of this folder by default.")
@click.option("--policies", "folders", multiple=True, type=_PATH, metavar="FOLDER", help="Policies of your own.")
@click.option("--baseline", type=_PATH, metavar="FILE", help="Say nothing of findings that this file holds.")
@click.option("--write-baseline", type=_PATH, metavar="FILE", help="Write all findings into a file, for --baseline.")
def command(**options: Any) -> None:  # noqa: D103 - the help text above documents it
    with outcome.exit_codes():
        from chartgen.kernel.output import check_places, write_files
        from chartgen.lint.run import lint

        formats, places = _outputs(options)
        check_places(places)
        request = _request(options)
        said = lint(request)
        problems: list[InputProblem] = []
        if options["fix"] or options["diff"]:
            said, problems = _edited(request, said, write=options["fix"])
        show = frozenset(options["show"])
        try:
            write_files(_files(said, formats, options["write_baseline"], show))
        except InputError as error:
            problems += error.problems
        _print(said, [name for name, file in formats if file is None], show)
        if problems:
            raise InputError(problems)
        code = _exit_code(said, options["fail_on"])
    raise click.exceptions.Exit(code)


def _request(options: dict[str, Any]) -> Request:
    from chartgen.lint.config import load_baseline, load_config
    from chartgen.lint.policy_check import configured
    from chartgen.lint.run import Request
    from chartgen.lint.select import Selection
    from chartgen.lint.subjects import surroundings

    file = load_config(options["config"])
    policies = configured(file, options["folders"])
    config = file.settings
    minors = options["kubernetes"] or config.kubernetes
    inputs = _inputs(options, minors[-1] if minors else None)
    return Request(
        policies=policies,
        inputs=inputs,
        selection=Selection(
            level=options["level"] or config.level or "recommended",
            select=(*config.select, *options["select"]),
            ignore=(*config.ignore, *options["ignore"]),
        ),
        surroundings=surroundings(minors, options["cloud"] or config.cloud),
        allowances=config.allow,
        parameters=config.parameters,
        baseline=load_baseline(options["baseline"]) if options["baseline"] else frozenset(),
    )


def _inputs(options: dict[str, Any], kubernetes: str | None) -> Inputs:
    """What the paths hold, charts and kustomizations too. Helm is imported when the first chart is met."""
    from chartgen.lint import inputs, kustomize_input
    from chartgen.lint.helm_values import given_values

    values = given_values(options["values"], options["sets"])

    @cache
    def charts() -> ChartReader:
        from chartgen.lint.chart_input import ChartReader
        from chartgen.validate.helm import engine

        return ChartReader(engine=lambda: engine(options["helm"]), values=values, kubernetes=kubernetes)

    readers = [
        inputs.FolderReader(knows=inputs.is_chart, read=lambda path: charts().read(path)),
        kustomize_input.folder_reader(),
    ]
    found = inputs.read_inputs(options["paths"], readers, stdin=sys.stdin.buffer.read)
    if (values.merged or values.documents) and not charts.cache_info().currsize:
        return replace(found, notes=(*found.notes, "no chart among the paths: -f and --set say nothing here"))
    return found


def _outputs(options: dict[str, Any]) -> tuple[list[tuple[str, Path | None]], list[Path]]:
    """Each report with its file, None for standard output; and every file that will be written."""
    from chartgen.report.findings import FORMATS

    if options["fix"] and options["diff"]:
        raise click.UsageError("--diff shows the edits and makes none, --fix makes them: give one of the two")
    formats: list[tuple[str, Path | None]] = []
    for chosen in options["formats"] or ("text",):
        name, _, file = chosen.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}", param_hint="--format")
        formats.append((name, Path(file) if file else None))
    places = [*(file for _, file in formats if file), *filter(None, [options["write_baseline"]])]
    twice = next((file for file in places if places.count(file) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice} would be written twice: give each report a file of its own")
    return formats, places


def _edited(request: Request, said: Outcome, *, write: bool) -> tuple[Outcome, list[InputProblem]]:
    """Make the safe edits, or show them as a diff; then what there is to say, and which files could not be written."""
    from chartgen.lint.fix import fixed_texts
    from chartgen.lint.mend import is_editable, left_alone, mend

    texts = fixed_texts(said.findings)
    editable = {file: pair for file, pair in texts.items() if write and is_editable(file)}
    for file, (before, after) in texts.items():
        if file not in editable:
            _show(file, before, after)
    if not write:
        return replace(said, notes=(*said.notes, *left_alone(said.findings))), []
    try:
        return mend(request, said, editable), []
    except InputError as error:
        return replace(said, notes=(*said.notes, "--fix changed no file")), [*error.problems]


def _show(file: str, before: str, after: str) -> None:
    import difflib

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, f"{file} (fixed)"
    )
    click.echo("".join(lines), nl=False)


def _files(
    said: Outcome, formats: list[tuple[str, Path | None]], known: Path | None, show: frozenset[str]
) -> dict[Path, bytes]:
    """What goes into files: reports, and the baseline."""
    from chartgen.lint.config import baseline
    from chartgen.report.findings import Style, write

    files = {file: write(name, said, Style(show=show)).encode() for name, file in formats if file}
    return {**files, known: baseline(said.findings).encode()} if known else files


def _print(said: Outcome, names: list[str], show: frozenset[str]) -> None:
    """The reports for standard output."""
    from chartgen.report.findings import Style, write

    for name in names:
        click.echo(write(name, said, Style(color=sys.stdout.isatty(), show=show)), nl=False)


def _exit_code(said: Outcome, fail_on: str) -> int:
    """Ours before the input's before the chart's: the first fault decides what else can be believed."""
    if any(stumble.place is None for stumble in said.stumbles):
        return outcome.OURS
    if said.stumbles or any(unread.fate == "failed" for unread in said.unread):
        return outcome.INPUT
    if fail_on == "never":
        return outcome.OK
    worst = max((SEVERITIES.index(one.policy.severity) for one in said.findings), default=-1)
    return outcome.FINDINGS if worst >= SEVERITIES.index(fail_on) else outcome.OK
