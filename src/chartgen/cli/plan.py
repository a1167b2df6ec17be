"""`chartgen plan`: what render would decide, without rendering."""

from __future__ import annotations

from pathlib import Path

import click

from chartgen.cli import options, outcome


@click.command(name="plan")
@click.argument("profile", type=click.Path(path_type=Path))
@options.sets
@click.option("--why", metavar="KEY", help="Only this value, with its whole reason: autoscaling.minReplicas.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The form."
)
def command(profile: Path, sets: tuple[str, ...], why: str | None, form: str) -> None:
    """Show every decision for PROFILE with its reason, and write nothing."""
    with outcome.exit_codes():
        from chartgen import api
        from chartgen.report import plans

        made = api.plan(api.load_profile(profile, sets))
        chart = api.build(made)
        if why is not None:
            click.echo(plans.why(chart, why, form))
        else:
            click.echo(plans.as_json(chart, made.fit) if form == "json" else plans.as_text(chart, made.fit))
