"""`chartgen schema`: the JSON Schema of what users write."""

from __future__ import annotations

import click


@click.command(name="schema")
@click.argument("what", type=click.Choice(["profile"]))
def command(what: str) -> None:
    """Print the JSON Schema of a profile, for editors and pipelines."""
    del what
    from chartgen.profile.schema import profile_schema

    click.echo(profile_schema(), nl=False)
