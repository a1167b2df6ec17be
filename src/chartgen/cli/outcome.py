"""Exit codes, and how a failure is shown: data goes to stdout, words to stderr."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import click

from chartgen.kernel.errors import Infeasible, InputError

OK: Final = 0
FINDINGS: Final = 1
INPUT: Final = 2
INFEASIBLE: Final = 3
OURS: Final = 70
UNREAD: Final = 141
"""Nobody reads the output any more: as a shell reports a program that the signal SIGPIPE ended."""

_OUTPUT: Final = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of a stream that cannot be written to."""
_PLACES: Final = _OUTPUT | {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP
}  # fmt: skip
"""Errors of a file that the user named: nothing that we could have done better."""


def say(text: str) -> None:
    """A line of words for the person at the terminal."""
    click.echo(text, err=True)


def failure(error: Exception) -> int:
    """Show a failure and tell its exit code. What is not the input's fault is ours, with a traceback.

    Raises:
        OSError: nobody reads our output, or it cannot be written: that ends the command, see `terminal`.
    """
    from chartgen.report import problems
    from chartgen.validate.helm import HelmMissing
    from chartgen.validate.kubeconform import KubeconformError

    match error:
        case OSError() if error.errno in _OUTPUT and error.filename is None:
            raise error
        case OSError() if error.errno in _PLACES and error.filename is not None:
            say(f"{error.filename}: {error.strerror}")
            return INPUT
        case InputError():
            say(problems.input_error(error))
            return INPUT
        case Infeasible():
            say(problems.infeasible(error))
            return INFEASIBLE
        case HelmMissing() | KubeconformError():
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


@contextmanager
def terminal() -> Iterator[None]:
    """End quietly when the reader of our output has gone, and with one line when its disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OUTPUT or error.filename is not None:
            raise
        gone = error.errno == errno.EPIPE
        for stream in (sys.stdout, sys.stderr) if gone else (sys.stdout,):
            with suppress(OSError):
                stream.close()  # what is left in it cannot be written, and must not be tried again at exit
        if not gone:
            with suppress(OSError):
                say(f"standard output: {error.strerror}")
        sys.exit(UNREAD if gone else INPUT)
