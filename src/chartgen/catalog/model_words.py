"""What the words of a model's name say: a quantization, a format the engine does not read, a bare size.

A quantized copy needs no file of its own. Its name holds the whole name of a known model and a word for the
quantization; the shapes are the known model's, the scheme is the word's. No look-up happens here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from chartgen.catalog.store import document, plain
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.library import catalog_data
from chartgen.kernel.structure import build

_TOKEN: Final = re.compile(r"[A-Za-z0-9.]+")
_SIZE: Final = re.compile(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>[mbt])")
_BILLIONS: Final = {"m": 0.001, "b": 1.0, "t": 1000.0}
_LONGEST: Final = 3
"""Neighbouring words that one pattern may span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A format that the engine does not read."""

    format: str
    """What people call it."""
    because: str
    """Why not, to be read after "is in the format X:"."""
    source: str
    """Where it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestSize:
    """How far a bare size may be from the model that stands for it, as a share of the size."""

    larger: float
    """How much larger the model may be: the answer is then cautious."""
    smaller: float
    """How much smaller it may be."""
    reason: str
    """Why this far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The words of `data/model_names.yaml`."""

    schemes: Mapping[str, str]
    """Pattern over neighbouring words: the scheme it means."""
    publishers: Mapping[str, Mapping[str, str]]
    """Owner of a repository: scheme by its word, and the one that this owner means."""
    other_model: tuple[str, ...]
    """Words that make the rest of a name another model, such as a distill of the one it names."""
    unread: Mapping[str, Unread]
    """Pattern over neighbouring words: the format it means."""
    sizes: Mapping[str, str]
    """Bare size: id of the model whose architecture stands for it."""
    nearest_size: NearestSize
    """How far a size that is not listed may be from one that is."""


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary as the catalog states it."""
    return build(document(catalog_data() / "model_names.yaml").value, Vocabulary)


def _spans(tokens: list[str], pattern: str) -> Iterator[tuple[int, int]]:
    """Where a pattern fits whole neighbouring words, longest spans first."""
    for length in range(_LONGEST, 0, -1):
        for start in range(len(tokens) - length + 1):
            if re.fullmatch(pattern, "-".join(tokens[start : start + length]).lower()):
                yield start, start + length


def unread_format(name: str) -> Unread | None:
    """The format of a name whose files the engine does not read; None when it says none such."""
    tokens = [word for token in _TOKEN.findall(name) for word in token.replace("_", "-").split(".") if word]
    tokens = [word for token in tokens for word in token.split("-")]
    for pattern, found in vocabulary().unread.items():
        if any(True for _ in _spans(tokens, pattern)):
            return found
    return None


def scheme_in(name: str) -> tuple[str, list[str]] | None:
    """The quantization scheme that a name says, with the remaining words; None when it says none."""
    owner, _, last = name.rpartition("/")
    tokens = _TOKEN.findall(last)
    for pattern, scheme in vocabulary().schemes.items():
        for start, end in _spans(tokens, pattern):
            meant = vocabulary().publishers.get(owner, {}).get(scheme, scheme)
            return meant, tokens[:start] + tokens[end:]
    return None


def known_part(tokens: list[str]) -> Iterator[str]:
    """Runs of words that may be the name of a known model, longest first, in plain form.

    A run that leaves a size behind, or a word such as "distill", is no candidate: the name means another model.
    A single word is one only where nothing else is left.
    """
    count = len(tokens)
    other = set(vocabulary().other_model)
    for length in range(count, min(count, 2) - 1, -1):
        for start in range(count - length + 1):
            left = [token.lower() for token in tokens[:start] + tokens[start + length :]]
            if not any(_SIZE.fullmatch(token) or token in other for token in left):
                yield plain("".join(tokens[start : start + length]))


def billions(text: str) -> float | None:
    """The parameters that a bare size such as 70B or 500M says, in billions; None when the text is none."""
    match = _SIZE.fullmatch(text.strip().lower().replace(" ", ""))
    return float(match["count"]) * _BILLIONS[match["unit"]] if match else None


def bare_size(name: str) -> str | None:
    """The id of the model that stands for a bare size such as 70B; None when the name is none, or none is near.

    A listed size counts first, then the next larger one, then the next smaller one.
    """
    sizes, near = vocabulary().sizes, vocabulary().nearest_size
    asked = name.strip().lower().replace(" ", "")
    if asked in sizes:
        return sizes[asked]
    wanted = billions(asked)
    if not wanted:
        return None
    listed = {found: size for size in sizes if (found := billions(size)) is not None}
    larger = [size for size in listed if wanted <= size <= wanted * (1 + near.larger)]
    smaller = [size for size in listed if wanted * (1 - near.smaller) <= size <= wanted]
    chosen = min(larger, default=max(smaller, default=None))
    return None if chosen is None else sizes[listed[chosen]]
