"""Model servers, and how to know one in a container: by its image, or by the words that start it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from chartgen.catalog.engine_images import holds_engine
from chartgen.catalog.store import document
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build
from chartgen.lint.manifest import items


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelFlags:
    """The options by which a server spreads a model over GPUs."""

    tensor: tuple[str, ...]
    """Those of the tensor-parallel size."""
    pipeline: tuple[str, ...] = ()
    """Those of the pipeline-parallel size."""
    data: tuple[str, ...] = ()
    """Those of the number of copies, each on GPUs of its own."""
    data_inside: tuple[str, ...] = ()
    """Switches that put the copies onto the GPUs of tensor parallelism."""
    nodes: tuple[str, ...] = ()
    """Those that spread one copy over several pods."""
    files: tuple[str, ...] = ()
    """Those of a file that may hold the sizes."""
    takes_all: bool = False
    """Whether it takes every GPU it sees when no size is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One model server's facts."""

    images: tuple[str, ...]
    """Patterns found in the names of its images."""
    commands: tuple[str, ...]
    """Patterns found in the words that start it."""
    port: int
    """The port it listens on where nothing is written."""
    port_flags: tuple[str, ...]
    """The options that set the port."""
    port_variables: tuple[str, ...] = ()
    """The environment variables that set it, the strongest first."""
    health: tuple[str, ...]
    """The paths that answer a GET with 200 once it serves, on every release."""
    parallel: ParallelFlags | None = None
    """How it is told to spread over GPUs; None where nobody tells it, or the linter reads it otherwise."""
    prefix: str
    """What its metrics start with; empty when they share nothing."""
    source: str
    """Where that stands."""


@cache
def servers() -> Mapping[str, Server]:
    """Every server by name; vllm comes first."""
    return build(document(catalog_data() / "servers.yaml").value, dict[str, Server])


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (name, re.compile("|".join(server.images)), re.compile("|".join(server.commands)) if server.commands else None)
        for name, server in servers().items()
    )


def starts(server: Server, words: str) -> bool:
    """Whether words on a command line start the server."""
    return any(re.search(pattern, words) for pattern in server.commands)


def words_of(container: Mapping[str, Any]) -> list[str]:
    """The entries of a container's command and arguments, one after another."""
    return [str(word) for key in ("command", "args") for word in items(container.get(key))]


def split_words(container: Mapping[str, Any]) -> list[str]:
    """The same, with entries that hold several words taken apart."""
    return [part for word in words_of(container) for part in word.split()]


def given(words: Sequence[str], flags: Collection[str]) -> Iterator[str]:
    """Each value that words give to one of some options, in their order; empty for one at the end."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in flags:
            yield value if equals else words[place + 1] if place + 1 < len(words) else ""


def server_of(container: Mapping[str, Any]) -> str | None:
    """The name of the server that a container runs; None for anything else."""
    return _server(str(container.get("image") or ""), " ".join(words_of(container)))


@cache
def _server(image: str, words: str) -> str | None:
    for name, _, commands in _patterns():
        if commands is not None and commands.search(words):
            return name
    if holds_engine(image):
        return "vllm"
    return next((name for name, images, _ in _patterns() if image and images.search(image)), None)
