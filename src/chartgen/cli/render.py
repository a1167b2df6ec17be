"""`chartgen render`: profiles in, validated charts out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chartgen.cli import options, outcome
from chartgen.kernel.errors import InputError

if TYPE_CHECKING:
    from chartgen.profile import LoadedProfile
    from chartgen.render.check import Checks, Validator


@click.command(name="render")
@click.argument("profiles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PROFILE...")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="Where charts go."
)
@options.sets
@click.option("--kube-version", metavar="1.NN", help="The Kubernetes minor: short for --set cluster.kubernetes.")
@click.option(
    "--with-node-pool",
    "nodes",
    is_flag=True,
    help="Also write OUT/NAME/nodes: the node pool and the quota that the chart needs, for the platform team.",
)
@click.option("--stdout", type=click.Choice(["manifests"]), help="Print the manifests and write nothing.")
@options.helm
@options.validator
def command(
    profiles: tuple[Path, ...],
    out: Path,
    sets: tuple[str, ...],
    kube_version: str | None,
    stdout: str | None,
    helm: options.HelmChoice,
    validator: Validator,
    *,
    nodes: bool,
) -> None:
    """Turn each PROFILE into a Helm chart in OUT/NAME, after every check has passed."""
    if nodes and stdout:
        raise click.UsageError("--stdout prints the chart's manifests alone; leave out --with-node-pool.")
    with outcome.exit_codes():
        from chartgen.render.check import Checks
        from chartgen.validate.helm import engine

        if kube_version is not None:
            sets = (*sets, f'cluster.kubernetes="{kube_version}"')
        checks = Checks(helm=engine(helm), validator=validator)
    worst, taken = outcome.OK, dict[str, Path]()
    for number, profile in enumerate(profiles, 1):
        code = _render(
            profile, out, sets, checks, taken, f"[{number}/{len(profiles)}]", to_stdout=stdout is not None, nodes=nodes
        )
        worst = max(worst, code)
    raise click.exceptions.Exit(worst)


def _render(
    profile: Path,
    out: Path,
    sets: tuple[str, ...],
    checks: Checks,
    taken: dict[str, Path],
    place: str,
    *,
    to_stdout: bool,
    nodes: bool,
) -> int:
    """Render one profile; a failure is shown and told, and does not stop the others."""
    from chartgen import api
    from chartgen.render.write import write_folder

    try:
        loaded = api.load_profile(profile, sets)
        _claim(loaded, profile, taken)
        made = api.plan(loaded)
        chart = api.build(made)
        files = api.chart_files(chart)
        manifests = checks.manifests(chart, files)
        if nodes:
            beside = api.node_files(made)
            checks.node_side(chart.name, beside, chart.kubernetes)
            files |= beside
        if to_stdout:
            for source, text in manifests.items():
                click.echo(f"---\n# Source: {source}\n{text.strip()}")
            return outcome.OK
        changed = write_folder(files, out / chart.name)
        outcome.say(f"{place} {profile} -> {out / chart.name}{'' if changed else ' (unchanged)'}")
    except Exception as error:  # noqa: BLE001 - shown with its exit code; the next profile goes on
        outcome.say(f"{place} {profile} failed")
        return outcome.failure(error)
    return outcome.OK


def _claim(loaded: LoadedProfile, profile: Path, taken: dict[str, Path]) -> None:
    """Keep the chart's name for this profile; refuse it when another profile of the call has it."""
    other = taken.setdefault(loaded.name, profile)
    if other != profile:
        found = f"the chart name {loaded.name!r}, which {other} has taken"
        expected = "a name of its own: set `name:` in one of them"
        raise InputError([loaded.problem(["name"], found=found, expected=expected)])
