"""`chartgen render`: profiles in, validated charts out."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from chartgen.cli import options, outcome
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError

if TYPE_CHECKING:
    from chartgen.profile import LoadedProfile
    from chartgen.render.check import Checks, Validator


LintChoice = Literal["auto", "always", "never"]


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
@click.option(
    "--lint",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether the policies judge a chart before it is written; auto: where the profile has overrides.",
)
@options.helm
@options.validator
def command(
    profiles: tuple[Path, ...],
    out: Path,
    sets: tuple[str, ...],
    kube_version: str | None,
    stdout: str | None,
    lint: LintChoice,
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
    call = _Call(out=out, sets=sets, checks=checks, lint=lint, to_stdout=stdout is not None, nodes=nodes)
    worst = outcome.OK
    for number, profile in enumerate(profiles, 1):
        worst = max(worst, call.render(profile, f"[{number}/{len(profiles)}]"))
    raise click.exceptions.Exit(worst)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One call of the command: what holds for every profile of it."""

    out: Path
    sets: tuple[str, ...]
    checks: Checks
    lint: LintChoice
    to_stdout: bool
    nodes: bool
    taken: dict[str, Path] = field(default_factory=dict)
    """Chart names of this call, and the profiles that have them."""

    def render(self, profile: Path, place: str) -> int:
        """Render one profile; a failure is shown and told, and does not stop the others."""
        try:
            said = self._rendered(profile)
        except Exception as error:  # noqa: BLE001 - shown with its exit code; the next profile goes on
            outcome.say(f"{place} {profile} failed")
            return outcome.failure(error)
        if said:
            outcome.say(f"{place} {profile} -> {said}")
        return outcome.OK

    def _rendered(self, profile: Path) -> str:
        """Where the chart was written; nothing when it was printed instead."""
        from chartgen import api
        from chartgen.render.write import write_folder

        loaded = api.load_profile(profile, self.sets)
        self._claim(loaded, profile)
        made = api.plan(loaded)
        chart = api.build(made)
        files = api.chart_files(chart)
        manifests = self.checks.manifests(chart, files)
        if self.lint == "always" or (self.lint == "auto" and loaded.profile.overrides):
            api.judge(chart, manifests)
        if self.nodes:
            beside = api.node_files(made)
            self.checks.node_side(chart.name, beside, chart.kubernetes)
            files |= beside
        if self.to_stdout:
            for source, text in manifests.items():
                click.echo(f"---\n# Source: {source}\n{text.strip()}")
            return ""
        changed = write_folder(files, self.out / chart.name)
        return f"{self.out / chart.name}{'' if changed else ' (unchanged)'}"

    def _claim(self, loaded: LoadedProfile, profile: Path) -> None:
        """Keep the chart's name for this profile; refuse it when another profile of the call has it."""
        other = self.taken.setdefault(loaded.name, profile)
        if other != profile:
            found = f"the chart name {loaded.name!r}, which {other} has taken"
            expected = "a name of its own: set `name:` in one of them"
            raise InputError([loaded.problem(["name"], found=found, expected=expected)])
