"""Weights of one rank: the tensors it holds, in the bytes of their quantization, as the allocator places them."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.model_attention import GroupedHeads, LatentAttention
from chartgen.catalog.models import Model, RopeTable
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.kernel.units import MIB, gib
from chartgen.memory.engine import Behaviour
from chartgen.memory.figures import Estimate
from chartgen.memory.parts import Padding, Piece, stage_pieces
from chartgen.memory.stages import Stage, stages

BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes of one element of an unquantized weight."""


PACKED = "w4a16"
"""The scheme of 4-bit weights in the compressed-tensors format."""


def scheme_of(model: Model, asked: str | None) -> Quantization:
    """The quantization in force: what was asked for, else how the checkpoint is stored.

    Raises:
        UnknownName: no scheme has that name.
    """
    stored = quantization(model.checkpoint.scheme)
    wanted = quantization(asked) if asked else stored
    if wanted.key != "stored":
        return wanted
    # compressed-tensors packs groups of 4-bit weights symmetrically, whatever method found them
    packed = quantization(PACKED)
    return packed if stored.zero_bits and stored.bits == packed.bits else stored


def allocated(size: float, engine: Behaviour) -> float:
    """Bytes that PyTorch's caching allocator spends on one tensor of `size` bytes.

    A tensor of 10 MiB or more gets blocks in steps of 2 MiB, and a remainder of up to 1 MiB is not split off.
    Releases that measure the memory taken from the device count the whole step.
    """
    if size < engine.allocator_large.value * MIB:
        return size
    step = engine.allocator_step.value * MIB
    whole = -(-size // step) * step
    return whole if whole - size <= engine.allocator_unsplit.value * MIB else size


def weight_bytes(
    model: Model,
    stage: Stage,
    engine: Behaviour,
    *,
    scheme: Quantization,
    dtype: str,
    tensor_parallel: int,
    padding: Padding | None = None,
) -> float:
    """Bytes of weights that one rank of a stage holds once loaded."""
    plain = BYTES[dtype]
    total = 0.0
    for piece in stage_pieces(model, stage, tensor_parallel, padding):
        bits = scheme_of_part(model, scheme, piece) if piece.matrix else None
        each = piece.parameters * (plain if bits is None else bits.bytes_per_weight)
        copy = piece.parameters * plain if bits is not None and piece.copied else 0
        total += _placed(piece, each, engine) + piece.tensors * copy
    return total + sum(table.positions * table.size * plain for table in rope_tables(model))


def scheme_of_part(model: Model, scheme: Quantization, piece: Piece) -> Quantization | None:
    """The scheme that a matrix is stored in; None for one that stays plain."""
    stored = model.checkpoint
    if scheme.key == stored.scheme and piece.part in stored.part_schemes:
        own = quantization(stored.part_schemes[piece.part])
        return None if own.key == "none" else own
    kept = scheme.kept + (stored.plain_parts if scheme.key == stored.scheme else ())
    return None if scheme.key == "none" or piece.part in kept else scheme


def _placed(piece: Piece, each: float, engine: Behaviour) -> float:
    return piece.tensors * (each if piece.part == "vision" else allocated(each, engine))


def rope_tables(model: Model) -> tuple[RopeTable, ...]:
    """The rotary tables of a model: as stated, else one per distinct head width up to the position limit."""
    if model.rope_tables:
        return model.rope_tables
    widths = dict.fromkeys(_rotary_widths(model))
    return tuple(RopeTable(positions=model.max_position_embeddings, size=width) for width in widths)


def _rotary_widths(model: Model) -> Iterator[int]:
    for kind in model.attention.kinds():
        if isinstance(kind, GroupedHeads):
            yield kind.head_size
        elif isinstance(kind, LatentAttention):
            yield kind.rope_head_size


def parameters(model: Model) -> int:
    """Parameters of the whole model by its shapes, without layers for multi-token prediction.

    Where keys serve as values, the published weights hold them once and the engine loads them twice.
    """
    (whole,) = stages(model, 1)
    loaded = sum(piece.parameters * piece.tensors for piece in stage_pieces(model, whole, 1))
    twice = sum(
        (kind.kv_layers or kind.layers) * kind.kv_heads * kind.head_size * model.hidden_size
        for kind in model.attention.kinds()
        if isinstance(kind, GroupedHeads) and kind.key_is_value
    )
    return round(loaded - twice)


def weights(
    model: Model,
    stage: Stage,
    engine: Behaviour,
    *,
    scheme: Quantization,
    dtype: str,
    tensor_parallel: int,
    padding: Padding | None = None,
) -> Estimate:
    """Weights of one rank of a stage, with their margin."""
    best = weight_bytes(
        model,
        stage,
        engine,
        scheme=scheme,
        dtype=dtype,
        tensor_parallel=tensor_parallel,
        padding=padding,
    )
    rule = engine.weights_margin_reference if model.reference else engine.weights_margin
    return Estimate(
        low=best * (1 - rule.value),
        best=best,
        high=best * (1 + rule.value + scheme.margin),
        stands_on="formula",
        because=f"{gib(best)} of {scheme.title} on each of {tensor_parallel * stage.of} GPU(s), by tensor shapes",
    )
