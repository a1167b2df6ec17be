"""The engine's config file: a mapping of flags, read as the words that the engine's parser makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chartgen.catalog.command_parse import Token
from chartgen.catalog.command_types import Place

if TYPE_CHECKING:
    from chartgen.catalog.engines import Engine


def config_words(
    words: Sequence[Token],
    engine: Engine,
    files: Mapping[str, str],
    gaps: list[str],
) -> Iterator[Token]:
    """The arguments of the engine's config file, which stand before those of the command line."""
    for number, word in enumerate(words):
        name, equals, attached = word.text.partition("=")
        if name != "--config":
            continue
        path = attached if equals else words[number + 1].text if number + 1 < len(words) else ""
        text = files.get(path)
        if text is None:
            gaps.append(f"--config {path}")
            continue
        yield from _config_tokens(text, path, engine)


def _config_tokens(text: str, path: str, engine: Engine) -> Iterator[Token]:
    from chartgen.kernel.yaml_source import read as read_yaml  # noqa: PLC0415 - config files are rare

    for document in read_yaml(text, path):
        settings: dict[str, Any] = document.value if isinstance(document.value, dict) else {}
        for key, value in settings.items():
            place = Place(list="config", index=document.position((key,)).line - 1)
            spelled = [f"--{key}"]
            match value:
                case True:
                    pass
                case False:
                    spelled = [f"--no-{key}"] if f"--no-{key.replace('_', '-')}" in engine.spellings else []
                case list():
                    spelled += [str(item) for item in value]
                case dict():
                    spelled.append(json.dumps(value))
                case _:
                    spelled.append(str(value))
            yield from (Token(text=word, place=place) for word in spelled)
