"""The command `chartgen`: finds the subcommand by name and imports only that one."""

from __future__ import annotations

import gc
import importlib
from typing import Any, Final

import click

from chartgen import __version__
from chartgen.cli import outcome

COMMANDS: Final = {
    "render": "Turn profiles into validated Helm charts.",
    "plan": "Show every decision for a profile, with its reason.",
    "fit": "Tell whether a model fits a card, and what its KV cache holds.",
    "validate": "Check any chart or manifest with Helm and the schemas.",
    "engine": "Show a vLLM release, what an upgrade changes, what a release makes of a command.",
    "catalog": "List what is known of models, GPUs, engines, clouds and gateways.",
    "schema": "Print the JSON Schema of a profile.",
    "lint": "Name what will break in any manifests, and what to write instead.",
    "policy": "Show, test, document and export the policies of lint.",
}
"""Each subcommand, in the order of the help page; the module has the same name."""

_GARBAGE: Final = 100_000
"""Objects made before Python looks for cycles: hardly anything here has one, and a look at each 700 takes time."""


class _Lazy(click.Group):
    """A group whose commands are modules, imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"chartgen.cli.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)  # noqa: S101 - a broken command module is our fault
        return command

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the words of the call; --help and --version write here already."""
        with outcome.terminal():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever it does not catch itself is shown and ends with its exit code."""
        gc.set_threshold(_GARBAGE)
        try:
            with outcome.terminal(), outcome.exit_codes():
                return super().invoke(ctx)
        finally:
            gc.freeze()  # nor is anything worth a look when the process ends

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing any of them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chartgen")
def main() -> None:
    """Make, explain and check Helm charts that serve language models with vLLM."""
