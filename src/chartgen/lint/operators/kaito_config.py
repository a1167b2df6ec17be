"""The ConfigMap of engine options that a KAITO Workspace names, and the way back from a word to its line.

KAITO's server appends `--key value` for every entry of `vllm` to its own words, so that the user's count
(kaito-project/kaito 056b828, presets/workspace/inference/vllm/inference_api.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError, Position
from chartgen.kernel.yaml_source import Document, Step, Text, read
from chartgen.lint.manifest import Manifest, Place, at, mapping

_FILE: Final = ("data", "inference_config.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One entry of `vllm`."""

    flag: str
    """The option as the engine is given it: --max-model-len."""
    words: tuple[str, ...]
    """The option and its value."""
    line: int
    """Its line in the text that the ConfigMap holds, from zero."""


def options_of(config: Manifest) -> tuple[Option, ...] | None:
    """What the ConfigMap tells the engine; None where its file is missing or cannot be read."""
    text = at(config.value, _FILE)
    if not isinstance(text, str):
        return None
    try:
        documents = list(read(text, "/".join(_FILE)))
    except InputError:
        return None
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        return None
    return _options(documents[0])


def _options(document: Document) -> tuple[Option, ...]:
    """In their order. The parser takes one word that belongs to no option, so one `true` does no harm."""
    found: list[Option] = []
    spare = True
    for key, value in mapping(document.value.get("vllm")).items():
        flag = f"--{key}"
        taken = spare and value is True
        spare = spare and not taken
        words = (flag,) if taken else (flag, str(value))
        found.append(Option(flag=flag, words=words, line=document.position(("vllm", key)).line - 1))
    return tuple(found)


class ConfiguredWords:
    """Where the words of an engine come from, when a ConfigMap holds some of them."""

    def __init__(self, owner: Manifest, config: Manifest, at: Sequence[Step], lines: Mapping[int, int]) -> None:
        """Join the words at `at` of `owner`, by their index, to lines of the ConfigMap's text."""
        self._owner = owner
        self._config = config
        self._at = owner.whole(at)
        self._lines = lines
        self.texts: Mapping[str, Text] = {
            **{one.file: one.document.text for one in (config, owner)},
            **{file: text for one in (config, owner) if one.origin for file, text in one.origin.texts.items()},
        }

    def place(self, manifest: Manifest, path: Sequence[Step]) -> Place:
        """The line of the ConfigMap for one of its words, its text for all words; else where the owner has it."""
        del manifest
        *above, last = path or ("",)
        if tuple(above) == self._at[:-1] and last == "args":
            return self._config.place(_FILE)
        line = self._lines.get(last) if tuple(above) == self._at and isinstance(last, int) else None
        return self._owner.place(path) if line is None else _line(self._config, line)


def _line(config: Manifest, number: int) -> Place:
    """A line of the text in a ConfigMap: exact where it stands there line by line, else the text as a whole."""
    offsets = config.offsets(_FILE)
    text = config.document.text
    if config.origin is not None or offsets is None or text.content[offsets[1]] != "|":
        return config.place(_FILE)
    line = text.position(offsets[1]).line + number
    written = text.content[text.line_starts[line] :].partition("\n")[0]
    column = len(written) - len(written.lstrip())
    start = Position(line=line + 1, column=column + 1)
    return Place(file=config.file, position=start, end=Position(line=line + 1, column=len(written.rstrip()) + 1))
