"""`chartgen validate`: the checks of render, on any chart or manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chartgen.cli import options, outcome

if TYPE_CHECKING:
    from chartgen.render.check import Validator


@click.command(name="validate")
@click.argument(
    "targets", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True), metavar="CHART|MANIFEST..."
)
@click.option("--kube-version", default="1.34", show_default=True, metavar="1.NN", help="The Kubernetes minor.")
@options.helm
@options.validator
def command(targets: tuple[Path, ...], kube_version: str, helm: options.HelmChoice, validator: Validator) -> None:
    """Check each CHART (folder or .tgz) or MANIFEST with Helm and the schemas."""
    with outcome.exit_codes():
        from chartgen.render.check import Checks
        from chartgen.validate.helm import engine

        checks = Checks(helm=engine(helm), validator=validator)
    worst = outcome.OK
    for target in targets:
        try:
            objects = checks.foreign(target, kube_version)
        except Exception as error:  # noqa: BLE001 - shown with its exit code; the next target goes on
            worst = max(worst, outcome.failure(error))
        else:
            click.echo(f"{target}: {objects} objects, all valid on Kubernetes {kube_version}")
    raise click.exceptions.Exit(worst)
