"""The exact size of a model's tensors, from a safetensors index, a safetensors file or its header as JSON.

A safetensors file opens with eight bytes, the length of its header, and the header: one JSON object with dtype,
shape and offsets of every tensor (https://huggingface.co/docs/safetensors). Only the header is read, within bounds.
An index of several files states their total (https://huggingface.co/docs/transformers/big_models).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

from chartgen.catalog.model_config_file import MAX_BYTES, JsonFile, read_json, refusal
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import InputError
from chartgen.kernel.structure import shown
from chartgen.kernel.units import Bytes

INDEX: Final = "model.safetensors.index.json"
SINGLE: Final = "model.safetensors"
PLAIN: Final = frozenset({"BF16", "F16", "F32"})
"""Element types of weights that are not quantized: their elements are parameters."""
TOWER: Final = re.compile(r"visual|vision|image|audio|mm_projector|multi_modal_projector|merger")
"""Names of tensors that belong to a tower beside the language model."""
LENGTH_BYTES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensors:
    """What is known of a model's tensors."""

    file: str
    """The file that says so."""
    total: Bytes
    """Bytes of all tensors together."""
    parameters: int | None = None
    """Parameters; None where only the total is known, or where the weights are quantized."""
    tower_parameters: int | None = None
    """Parameters of towers beside the language model, where tensors are named."""


def tensors_beside(config: Path, weights: Path | None) -> Tensors | None:
    """The tensors of `weights`, or of the index or the single file beside a config; None when there is neither.

    Raises:
        InputError: the file is no index, no safetensors file and no header.
    """
    if weights is not None:
        return _read(weights)
    beside = (config.parent / name for name in (INDEX, SINGLE))
    found = next((path for path in beside if path.is_file()), None)
    return _read(found) if found else None


def _read(path: Path) -> Tensors:
    file = _header(path) if path.suffix == ".safetensors" else read_json(path)
    if isinstance(file.value.get("weight_map"), Mapping):
        return _indexed(file)
    tensors = {name: entry for name, entry in file.value.items() if name != "__metadata__"}
    if not tensors or not all(_is_tensor(entry) for entry in tensors.values()):
        raise refusal(str(path), "JSON of another kind", "a safetensors index, or the header of a safetensors file")
    plain = all(entry["dtype"] in PLAIN for entry in tensors.values())
    towers = sum(prod(entry["shape"]) for name, entry in tensors.items() if TOWER.search(name))
    return Tensors(
        file=str(path),
        total=Bytes(sum(entry["data_offsets"][1] - entry["data_offsets"][0] for entry in tensors.values())),
        parameters=sum(prod(entry["shape"]) for entry in tensors.values()) if plain else None,
        tower_parameters=towers if plain else None,
    )


def _header(path: Path) -> JsonFile:
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(LENGTH_BYTES), "little")
            if length > MAX_BYTES:
                raise refusal(str(path), f"a header of {length} bytes", f"a safetensors header of at most {MAX_BYTES}")
            text = stream.read(length).decode("utf-8")
        value = json.loads(text)
    except OSError as error:
        raise refusal(str(path), error.strerror or "an unreadable file", "a readable file") from error
    except (ValueError, RecursionError) as error:
        raise refusal(str(path), "a header that is no JSON", "a safetensors file") from error
    if not isinstance(value, dict):
        raise refusal(str(path), "a header that is no object", "a safetensors file")
    return JsonFile(file=str(path), text=text, value=value)


def _indexed(file: JsonFile) -> Tensors:
    metadata = file.value.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    if isinstance(total, bool) or not isinstance(total, int | float) or total <= 0 or total != int(total):
        found = "nothing" if total is None else shown(total)
        raise InputError([file.problem(("metadata", "total_size"), found, "the bytes of all tensors together")])
    counted = metadata.get("total_parameters") if isinstance(metadata, Mapping) else None
    return Tensors(file=file.file, total=Bytes(int(total)), parameters=counted if isinstance(counted, int) else None)


def _is_tensor(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("dtype"), str)
        and all(_whole_numbers(entry.get(key)) for key in ("shape", "data_offsets"))
        and len(entry["data_offsets"]) == len(("start", "end"))
    )


def _whole_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
