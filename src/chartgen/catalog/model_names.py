"""What people write where a model is asked for: an id, an address, a quantized copy, a size, a config.json."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from chartgen.catalog.models import Model, model
from chartgen.catalog.store import plain
from chartgen.kernel.dataclass import dataclass

_ADDRESS: Final = re.compile(
    r"(?:https?://)?(?:huggingface\.co|hf\.co|modelscope\.cn/models)/(?P<id>[^/\s]+/[^/\s?#]+)(?:[/?#].*)?"
)
"""An address of a model's page on a hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model with what its name said."""

    model: Model
    """The facts; for a quantized copy, with the copy's id and scheme."""
    scheme: str | None
    """How its weights are stored; None where they are plain."""
    reference: bool
    """It stands for a bare size: figures get wider margins."""
    says: str
    """One sentence on how the name was read."""


def is_path(text: str) -> bool:
    """Whether a text means a file or a folder rather than a name."""
    return text.endswith((".json", "/")) or text.startswith((".", "/", "~"))


def resolve(text: str, base_folder: Path) -> ResolvedModel:
    """The model that a text means; paths are relative to `base_folder`.

    Raises:
        UnknownName: no model has that name, or its files are in a format that the engine does not read.
        InputError: the text is a path, and what stands there is no config that can be read; every problem.
    """
    asked = text.strip()
    if is_path(asked):
        from chartgen.catalog.model_config import read_model  # noqa: PLC0415 - a dozen modules that most runs never need

        found = read_model(base_folder / _at_home(asked))
        return _resolved(found, f"{found.id} is read from {found.origin}")
    address = _ADDRESS.fullmatch(asked)
    name = address["id"] if address else asked
    found = model(name)
    return _resolved(found, _reading(name, found))


def _at_home(text: str) -> Path:
    """The path with the home folder in place of ~, where there is one."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no user of that name
        return Path(text)


def _resolved(found: Model, says: str) -> ResolvedModel:
    scheme = found.checkpoint.scheme
    return ResolvedModel(model=found, scheme=None if scheme == "none" else scheme, reference=found.reference, says=says)


def _reading(name: str, found: Model) -> str:
    """How a name led to a model."""
    if found.reference:
        return f"{name} names no model: figures are those of {found.id}, with wider margins"
    if found.base is not None and plain(found.key) != plain(name):
        scheme = found.checkpoint.scheme
        return f"{name} is read as {found.base} with {'plain' if scheme == 'none' else scheme} weights"
    own = found.key.replace("--", "/")
    if plain(name) in {plain(own), plain(own.rsplit("/", 1)[-1])}:
        return f"{own} is in the catalog"
    return f"{name} has the shapes of {own}"
