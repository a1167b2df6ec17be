"""`chartgen fit`: does a model fit a card, and what its KV cache holds. No profile needed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chartgen.cli import outcome
from chartgen.kernel.units import LARGEST_COUNT

if TYPE_CHECKING:
    from chartgen.kernel.errors import InputProblem


class _Share(click.FloatRange):
    """A number in a range, which not-a-number is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        return self.fail(f"{value} is no number.", param, ctx) if math.isnan(number) else number


_COUNT: Final = click.IntRange(min=1, max=LARGEST_COUNT)


@click.command(name="fit")
@click.argument("model", required=False)
@click.option("--gpu", help="Card, as people, drivers or node labels name it: H100, NVIDIA-L4.")
@click.option("--mig", help="MIG profile, when each rank has a slice: 3g.40gb.")
@click.option("--config", metavar="PATH", help="The model's config.json, or its folder.")
@click.option("--engine", metavar="RELEASE", help="Release of vLLM; the newest known by default.")
@click.option("--context", help="Longest request, as --max-model-len: 32k.")
@click.option("--concurrency", type=_COUNT, help="Requests of that length to hold at once.")
@click.option("--tensor-parallel-size", type=_COUNT, help="Chosen when not given.")
@click.option("--pipeline-parallel-size", type=_COUNT, help="Chosen when not given.")
@click.option("--max-model-len", help="Longest request, in tokens.")
@click.option("--max-num-seqs", type=_COUNT, help="Sequences in a batch.")
@click.option("--max-num-batched-tokens", type=_COUNT, help="Tokens in a batch.")
@click.option("--quantization", help="How weights are quantized.")
@click.option("--dtype", help="Element type of plain weights.")
@click.option("--kv-cache-dtype", help="Element type of the KV cache.")
@click.option("--gpu-memory-utilization", type=_Share(min=0, max=1, min_open=True), help="Share of the card.")
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
    from chartgen.report.problems import input_error

    with click.open_file(str(rows), "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield json.dumps(_answer(line, rows, number))
            except InputError as error:
                placed = InputError(_placed(problem, rows, number) for problem in error.problems)
                yield json.dumps({"error": input_error(placed)})
            except Exception as error:  # noqa: BLE001 - a fault of ours in one row must not cost the others
                outcome.failure(error)
                yield json.dumps({"error": f"{rows}:{number}: a fault of chartgen, told on standard error"})


def _answer(line: bytes, rows: Path, number: int) -> dict[str, Any]:
    from chartgen.kernel.text_file import decoded
    from chartgen.kernel.yaml_source import read, refusal
    from chartgen.memory.answer import answer
    from chartgen.memory.question import ask, read_question
    from chartgen.report import fits

    documents = list(read(decoded(line, rows), str(rows)))
    if len(documents) != 1:
        raise refusal(f"{rows}:{number}", None, f"{len(documents)} documents", "one JSON object")
    return fits.data(answer(ask(read_question(documents[0], str(rows)), f"{rows}:{number}")))


def _placed(problem: InputProblem, rows: Path, number: int) -> InputProblem:
    """A problem of one line, at its line of the file."""
    if problem.file != str(rows):
        return problem
    place = None if problem.position is None else replace(problem.position, line=number)
    return replace(problem, file=str(rows) if place else f"{rows}:{number}", position=place)
