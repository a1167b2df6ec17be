"""Options that several commands share, in one spelling."""

from __future__ import annotations

from typing import Final, Literal

import click

HelmChoice = Literal["auto", "library", "binary"]
"""Which Helm: the library where it is installed, else the command; or one of the two."""

helm: Final = click.option(
    "--helm",
    type=click.Choice(["auto", "library", "binary"]),
    default="auto",
    show_default=True,
    help="Which Helm.",
)
validator: Final = click.option(
    "--validator",
    type=click.Choice(["auto", "embedded", "kubeconform"]),
    default="auto",
    show_default=True,
    help="Which schema check; auto adds kubeconform where it is on PATH.",
)
sets: Final = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the profile: cluster.cloud=gke.",
)
