"""`chartgen catalog`: what is known, with its source."""

from __future__ import annotations

import click

from chartgen.cli import outcome


@click.command(name="catalog")
@click.argument("kind", type=click.Choice(["models", "gpus", "engines", "clouds", "gateways"]))
@click.argument("name", required=False)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The form."
)
def command(kind: str, name: str | None, form: str) -> None:
    """List what is known, or show one entry with its source."""
    with outcome.exit_codes():
        from chartgen.report import catalogs

        click.echo(catalogs.entry(kind, name, form) if name else catalogs.listing(kind, form))
