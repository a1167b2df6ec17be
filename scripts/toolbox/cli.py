"""The commands of `scripts/tools`: install, list, path, bin."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from toolbox.cache import Cache, place
from toolbox.install import Installer
from toolbox.lookup import find
from toolbox.table import Table, Tool, ToolError, load, this_machine, unknown

_ABOUT = """\
Install the external programs that chartgen's tests run, at pinned versions, outside the checkout.
They live in $CHARTGEN_TOOLS, else in chartgen/tools under $XDG_CACHE_HOME or ~/.cache.
"""
_CODES = """\
exit codes: 0 done · 1 a tool is missing or cannot be installed · 2 unknown name or option · 130 interrupted
put the tools on PATH with:  export PATH="$(scripts/tools bin):$PATH"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        cache = Cache(place(os.environ), this_machine())
        status: int = options.run(options, load(), cache)
        sys.stdout.flush()
    except ToolError as error:
        _show(error)
        return error.status
    except BrokenPipeError:  # the reader of a list has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        _say("interrupted; the cache holds whole tools only")
        return 130
    return status


def _install(options: argparse.Namespace, table: Table, cache: Cache) -> int:
    installer = Installer(table, cache, _say)
    for tool in _chosen(options, table):
        installer.install(tool)
    cache.links(table)
    return 0


def _chosen(options: argparse.Namespace, table: Table) -> list[Tool]:
    if options.group and options.group not in (groups := [*table.groups(), "all"]):
        raise unknown("group", options.group, groups)
    names = {table.find(name).name: table.find(name) for name in options.names}
    group = options.group or ("" if names else "test")
    return [*names.values(), *(tool for tool in table.of_group(group) if tool.name not in names)]


def _list(options: argparse.Namespace, table: Table, cache: Cache) -> int:
    del options
    rows = [("TOOL", "VERSION", "GROUP", "PATH")]
    for tool in table.tools.values():
        rows += [(name, tool.version, tool.group, _state(tool, name, cache)) for name in tool.programs or (tool.name,)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print(*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3], sep="  ")
    return 0


def _state(tool: Tool, command: str, cache: Cache) -> str:
    try:
        there = not cache.missing(tool)
        return str(cache.found(tool)[command]) if there else f"missing: scripts/tools install {tool.name}"
    except ToolError as error:
        return error.what


def _path(options: argparse.Namespace, table: Table, cache: Cache) -> int:
    print(find(options.name, table, cache))
    return 0


def _bin(options: argparse.Namespace, table: Table, cache: Cache) -> int:
    del options
    print(cache.links(table))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/tools",
        description=_ABOUT,
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    install = commands.add_parser("install", help="install tools; what is there and works is left as it is")
    install.add_argument("names", nargs="*", metavar="NAME", help="tools by name (default: the group test)")
    install.add_argument("--group", help="a group of tools: test, cluster, or all")
    install.set_defaults(run=_install)
    listing = commands.add_parser("list", help="show every tool, its pinned version and where it is")
    listing.set_defaults(run=_list)
    path = commands.add_parser("path", help="print the path of an installed command")
    path.add_argument("name", metavar="NAME", help="a command, such as helm3")
    path.set_defaults(run=_path)
    links = commands.add_parser("bin", help="print a folder of links to the installed commands, for PATH")
    links.set_defaults(run=_bin)
    return parser


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _show(error: ToolError) -> None:
    _say(f"scripts/tools: {error.what}")
    for line in error.output:
        _say(f"  | {line}")
    _say(f"what to do: {error.advice}")


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    """End as after Ctrl-C, so that a running build is ended and its folder removed."""
    del number, frame
    raise KeyboardInterrupt
