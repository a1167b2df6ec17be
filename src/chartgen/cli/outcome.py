"""Exit codes, and how a failure is shown: data goes to stdout, words to stderr."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from chartgen.kernel.errors import Infeasible, InputError

OK: Final = 0
FINDINGS: Final = 1
INPUT: Final = 2
INFEASIBLE: Final = 3
OURS: Final = 70


def say(text: str) -> None:
    """A line of words for the person at the terminal."""
    click.echo(text, err=True)


def failure(error: Exception) -> int:
    """Show a failure and tell its exit code. What is not the input's fault is ours, with a traceback."""
    from chartgen.report import problems
    from chartgen.validate.helm import HelmMissing

    match error:
        case InputError():
            say(problems.input_error(error))
            return INPUT
        case Infeasible():
            say(problems.infeasible(error))
            return INFEASIBLE
        case HelmMissing():
            say(str(error))
            return INPUT
    rejected = problems.rejected(error)
    if rejected is not None:
        say(rejected)
        return FINDINGS
    say("".join(traceback.format_exception(error)).rstrip())
    say("This is a fault of chartgen. Please report it with the lines above.")
    return OURS


@contextmanager
def exit_codes() -> Iterator[None]:
    """End the process with the exit code of whatever is raised inside."""
    try:
        yield
    except (click.exceptions.Exit, click.ClickException, click.Abort):
        raise
    except Exception as error:
        raise click.exceptions.Exit(failure(error)) from error
