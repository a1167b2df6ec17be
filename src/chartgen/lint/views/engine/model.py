"""The model that an engine serves: what the catalogue knows of it, and where its weights come from."""

from __future__ import annotations

from functools import cache
from typing import Final

from chartgen.catalog.engines import newest
from chartgen.catalog.model_attention import GroupedHeads, LatentAttention
from chartgen.catalog.models import Model, model
from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import UnknownName
from chartgen.kernel.units import GIB
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.memory.engine import behaviour
from chartgen.memory.release import release
from chartgen.memory.stages import stages
from chartgen.memory.weights import scheme_of
from chartgen.memory.weights import weight_bytes as rank_bytes

_NOT_A_NAME: Final = (
    "/",
    ".",
    "~",
    "$",
    "s3://",
    "gs://",
    "az://",
    "hf://",
    "pvc://",
    "oci://",
    "modelscope://",
    "http://",
    "https://",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """A model, as far as its name tells."""

    id: Maybe[str | None]
    """As given to the engine; null when none is given."""
    hub: Maybe[bool]
    """Whether the name is one of the Hugging Face hub, from where the weights are downloaded."""
    catalogued: Maybe[bool]
    """True when the catalogue knows it."""
    gated: Maybe[bool]
    """Whether the hub asks for a token."""
    heads: Maybe[int]
    """Attention heads of one layer."""
    longest: Maybe[int]
    """The longest context that the model was made for, in tokens."""
    scheme: Maybe[str]
    """How its published weights are quantized: none, fp8, awq, gptq, mxfp4, …"""
    dtype: Maybe[str]
    """The data type of its unquantized weights: bfloat16, float16, float32."""
    weight_bytes: Maybe[int]
    """Bytes of its weights as published."""


def model_view(name: Maybe[str | None]) -> tuple[ModelView, Model | None]:
    """The view of a model by the name that the engine is given, and the catalogue's entry."""
    if isinstance(name, Unknown):
        return _unknown(name, name), None
    found = find_model(name) if name else None
    if found is None:
        because = f"the catalogue has no model {name}" if name else "no model is named"
        unknown = Unknown(because=because, run="chartgen fit PATH/config.json")
        return _unknown(name, unknown), None
    view = ModelView(
        id=name,
        hub=is_hub_name(name),
        catalogued=True,
        gated=_gated(name or "", found),
        heads=_heads(found),
        longest=found.max_position_embeddings,
        scheme=found.checkpoint.scheme,
        dtype=found.dtype,
        weight_bytes=weight_bytes(found),
    )
    return view, found


def _gated(name: str, found: Model) -> Maybe[bool]:
    """Whether the hub asks for a token: known of the publisher's own repositories, and of no copy or fine-tune."""
    original = find_model(name.rpartition("/")[2])
    publisher = name.rpartition("/")[0]
    if original is None or publisher not in {"", original.id.partition("/")[0]}:
        return Unknown(
            because=f"{name} has the shapes of a known model, and rules of its own", run="its page on the hub"
        )
    return found.gated


def _heads(found: Model) -> Maybe[int]:
    """Query heads of a layer: the number that tensor parallelism must divide."""
    heads = [kind.heads for kind in found.attention.kinds() if isinstance(kind, GroupedHeads | LatentAttention)]
    if heads:
        return heads[0]
    return Unknown(because=f"{found.id} has no attention heads in the catalogue", run="its config.json")


def _unknown(name: Maybe[str | None], unknown: Unknown) -> ModelView:
    return ModelView(
        id=name,
        hub=is_hub_name(name) if not isinstance(name, Unknown) else name,
        catalogued=unknown,
        gated=unknown,
        heads=unknown,
        longest=unknown,
        scheme=unknown,
        dtype=unknown,
        weight_bytes=unknown,
    )


def is_hub_name(name: str | None) -> bool:
    """Whether a model's name is one of the hub: organisation and name, and no path or address."""
    if not name or name.startswith(_NOT_A_NAME):
        return False
    return name.count("/") <= 1


@cache
def find_model(name: str) -> Model | None:
    """The catalogue's model of that name; a local folder called like a model is taken for it, a bare size is none."""
    for candidate in (name, name.rstrip("/").rpartition("/")[2]):
        try:
            found = model(candidate)
        except UnknownName:
            continue
        if not found.reference:
            return found
    return None


def weight_bytes(found: Model) -> int:
    """Bytes of a model's published weights: of its files where they are known, else by its shapes."""
    if found.checkpoint.file_gib is not None:
        return int(found.checkpoint.file_gib * GIB)
    return _by_shapes(found.id)


@cache
def _by_shapes(name: str) -> int:
    found = model(name)
    (whole,) = stages(found, 1)
    engine = behaviour(release(newest()))
    return int(rank_bytes(found, whole, engine, scheme=scheme_of(found, None), dtype=found.dtype, tensor_parallel=1))
