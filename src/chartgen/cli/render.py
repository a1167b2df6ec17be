"""`chartgen render`: profiles in, validated charts out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from chartgen.cli import outcome

if TYPE_CHECKING:
    from chartgen.render.check import Checks, Validator


@click.command(name="render")
@click.argument("profiles", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PROFILE...")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="Where charts go."
)
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Set a key of the profile: cluster.cloud=gke.")
@click.option("--kube-version", metavar="1.NN", help="The Kubernetes minor: short for --set cluster.kubernetes.")
@click.option("--stdout", type=click.Choice(["manifests"]), help="Print the manifests and write nothing.")
@click.option(
    "--helm", type=click.Choice(["auto", "library", "binary"]), default="auto", show_default=True, help="Which Helm."
)
@click.option(
    "--validator",
    type=click.Choice(["auto", "embedded", "kubeconform"]),
    default="auto",
    show_default=True,
    help="Which schema check; auto adds kubeconform where it is on PATH.",
)
def command(
    profiles: tuple[Path, ...],
    out: Path,
    sets: tuple[str, ...],
    kube_version: str | None,
    stdout: str | None,
    helm: Literal["auto", "library", "binary"],
    validator: Validator,
) -> None:
    """Turn each PROFILE into a Helm chart in OUT/NAME, after every check has passed."""
    with outcome.exit_codes():
        from chartgen.render.check import Checks
        from chartgen.validate.helm import engine

        if kube_version is not None:
            sets = (*sets, f'cluster.kubernetes="{kube_version}"')
        checks = Checks(helm=engine(helm), validator=validator)
    worst = outcome.OK
    for number, profile in enumerate(profiles, 1):
        code = _render(profile, out, sets, checks, to_stdout=stdout is not None, place=f"[{number}/{len(profiles)}] ")
        worst = max(worst, code)
    raise click.exceptions.Exit(worst)


def _render(profile: Path, out: Path, sets: tuple[str, ...], checks: Checks, *, to_stdout: bool, place: str) -> int:
    """Render one profile; a failure is shown and told, and does not stop the others."""
    from chartgen import api
    from chartgen.render.write import write_folder

    try:
        chart, files = api.render(profile, sets)
        manifests = checks.manifests(chart, files)
        if to_stdout:
            for source, text in manifests.items():
                click.echo(f"---\n# Source: {source}\n{text.strip()}")
            return outcome.OK
        changed = write_folder(files, out / chart.name)
        outcome.say(f"{place}{profile} -> {out / chart.name}{'' if changed else ' (unchanged)'}")
    except Exception as error:  # noqa: BLE001 - shown with its exit code; the next profile goes on
        outcome.say(f"{place}{profile} failed")
        return outcome.failure(error)
    return outcome.OK
