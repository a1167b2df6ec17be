"""`chartgen fit`: does a model fit a card, and what its KV cache holds. No profile needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from chartgen.cli import outcome


@click.command(name="fit")
@click.argument("model", required=False)
@click.option("--gpu", help="Card, as people, drivers or node labels name it: H100, NVIDIA-L4.")
@click.option("--mig", help="MIG profile, when each rank has a slice: 3g.40gb.")
@click.option("--config", metavar="PATH", help="The model's config.json, or its folder.")
@click.option("--engine", metavar="RELEASE", help="Release of vLLM; the newest known by default.")
@click.option("--context", help="Longest request, as --max-model-len: 32k.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Requests of that length to hold at once.")
@click.option("--tensor-parallel-size", type=click.IntRange(min=1), help="Chosen when not given.")
@click.option("--pipeline-parallel-size", type=click.IntRange(min=1), help="Chosen when not given.")
@click.option("--max-model-len", help="Longest request, in tokens.")
@click.option("--max-num-seqs", type=click.IntRange(min=1), help="Sequences in a batch.")
@click.option("--max-num-batched-tokens", type=click.IntRange(min=1), help="Tokens in a batch.")
@click.option("--quantization", help="How weights are quantized.")
@click.option("--dtype", help="Element type of plain weights.")
@click.option("--kv-cache-dtype", help="Element type of the KV cache.")
@click.option("--gpu-memory-utilization", type=click.FloatRange(min=0, max=1, min_open=True), help="Share of the card.")
@click.option("--enforce-eager", is_flag=True, default=None, help="No CUDA graphs.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The form."
)
@click.option(
    "--rows",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True),
    help="Answer many questions: a JSON object a line in, one a line out. Keys are the options with underscores.",
)
def command(form: str, rows: Path | None, **options: Any) -> None:
    """Tell whether MODEL fits a card, what is left for the KV cache, and what would help."""
    given = {name: value for name, value in options.items() if value is not None}
    with outcome.exit_codes():
        if rows is not None:
            if given:
                raise click.UsageError(f"--rows answers its own questions; leave out {', '.join(sorted(given))}.")
            for line in _answers(rows):
                click.echo(line)
            return
        if "gpu" not in given:
            raise click.UsageError("Missing option '--gpu'.")
        from chartgen.memory.answer import answer
        from chartgen.memory.question import Question, ask
        from chartgen.report import fits

        found = answer(ask(Question(**given), "command line", prefix="--"))
        click.echo(json.dumps(fits.data(found), indent=2) if form == "json" else fits.text(found))
        if found.fit.verdict == "no":
            raise click.exceptions.Exit(outcome.INFEASIBLE)


def _answers(rows: Path) -> Iterator[str]:
    from chartgen.kernel.errors import InputError
    from chartgen.kernel.structure import structure
    from chartgen.kernel.yaml_source import read
    from chartgen.memory.answer import answer
    from chartgen.memory.question import Question, ask
    from chartgen.report import fits
    from chartgen.report.problems import input_error

    with click.open_file(str(rows), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            name = f"{rows}:{number}"
            try:
                (document,) = read(line, name)
                yield json.dumps(fits.data(answer(ask(structure(document, Question, name), name))))
            except InputError as error:
                yield json.dumps({"error": input_error(error)})
            except Exception as error:  # noqa: BLE001 - a fault of ours in one row must not cost the others
                yield json.dumps({"error": f"{name}: {type(error).__name__}: {error}"})
