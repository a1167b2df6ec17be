"""What a model's name says: a known model, a quantization of one, or a bare size that stands for a reference.

A quantized copy needs no file of its own. Its name holds the whole name of a known model and a word for the
quantization; the shapes are the known model's, the scheme is the word's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from chartgen.catalog.store import document, plain
from chartgen.kernel.library import catalog_data

_TOKEN = re.compile(r"[A-Za-z0-9.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The vocabulary of quantized copies and bare sizes, from the catalog."""

    schemes: Mapping[str, str]
    """Regular expression over a whole plain word or two joined words: the scheme it means."""
    sizes: Mapping[str, str]
    """Bare size: id of the model whose architecture stands for it."""


@cache
def words() -> Words:
    """The vocabulary as the catalog states it."""
    data = document(catalog_data() / "model_names.yaml").value
    return Words(schemes=data["schemes"], sizes=data["sizes"])


def scheme_in(name: str) -> tuple[str, list[str]] | None:
    """The quantization scheme that a name says, with the remaining words; None when it says none."""
    tokens = _TOKEN.findall(name.rsplit("/", 1)[-1])
    for pattern, scheme in words().schemes.items():
        for length in (3, 2, 1):
            for start in range(len(tokens) - length + 1):
                if re.fullmatch(pattern, "-".join(tokens[start : start + length]).lower()):
                    return scheme, tokens[:start] + tokens[start + length :]
    return None


def known_part(tokens: list[str]) -> Iterator[str]:
    """Runs of words that may be the name of a known model, longest first, in plain form."""
    count = len(tokens)
    for length in range(count, 1, -1):
        for start in range(count - length + 1):
            yield plain("".join(tokens[start : start + length]))


def bare_size(name: str) -> str | None:
    """The id of the model that stands for a bare size such as 70B; None when the name is none."""
    return words().sizes.get(name.strip().lower())
