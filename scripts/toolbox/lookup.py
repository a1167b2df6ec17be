"""Where an installed command is: what tests and other scripts ask."""

from __future__ import annotations

import os
from pathlib import Path

from toolbox.cache import Cache, place
from toolbox.table import Table, ToolError, load, this_machine


def command(name: str) -> Path:
    """The pinned command, or folder of data, of that name in the user's cache.

    Raises:
        ToolError: it is not installed, or there is no such command; the error says what to do.
    """
    return find(name, load(), Cache(place(os.environ), this_machine()))


def find(name: str, table: Table, cache: Cache) -> Path:
    """What has that name in a cache: a command, a folder of data, or a tool that brings one command."""
    tool = table.find(name)
    found = cache.found(tool)
    if name not in found and len(found) > 1:
        advice = f"name one of {', '.join(found)}"
        raise ToolError(f"{tool.name} brings {len(found)} commands", advice=advice, status=2)
    if cache.missing(tool):
        advice = f"run: scripts/tools install {tool.name}"
        raise ToolError(f"{tool.label} is not installed in {cache.root}", advice=advice)
    return found.get(name) or next(iter(found.values()))
