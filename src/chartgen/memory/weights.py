"""Weights of one rank: the parts it holds, in the bytes of their quantization, and the rotary tables."""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.catalog.model_attention import GroupedHeads, LatentAttention
from chartgen.catalog.models import Checkpoint, Model, RopeTable
from chartgen.catalog.quantizations import Quantization, quantization
from chartgen.kernel.units import gib
from chartgen.memory.figures import Estimate
from chartgen.memory.parts import Piece, stage_pieces
from chartgen.memory.stages import Stage, stages

BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes of one element of an unquantized weight."""


def scheme_of(model: Model, asked: str | None) -> Quantization:
    """The quantization in force: what was asked for, else how the checkpoint is stored.

    Raises:
        UnknownName: no scheme has that name.
    """
    return quantization(asked or model.checkpoint.scheme)


def weight_bytes(
    model: Model, stage: Stage, *, scheme: Quantization, dtype: str, tensor_parallel: int
) -> float:
    """Bytes of weights that one rank of a stage holds once loaded."""
    plain = BYTES[dtype]
    kept = {*scheme.kept, *_kept_by_checkpoint(model.checkpoint, scheme)}
    total = 0.0
    for piece in stage_pieces(model, stage, tensor_parallel):
        quantized = piece.matrix and scheme.key != "none" and piece.part not in kept
        total += _piece_bytes(piece, scheme.bytes_per_weight if quantized else plain, plain, copied=quantized)
    return total + sum(table.positions * table.size * plain for table in rope_tables(model))


def _kept_by_checkpoint(checkpoint: Checkpoint, scheme: Quantization) -> tuple[str, ...]:
    return checkpoint.plain_parts if checkpoint.scheme == scheme.key else ()


def _piece_bytes(piece: Piece, each: float, plain: float, *, copied: bool) -> float:
    return piece.parameters * each + (piece.copies * plain if copied else 0)


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
    """Parameters of the whole model by its shapes, without layers for multi-token prediction."""
    (whole,) = stages(model, 1)
    return round(sum(piece.parameters for piece in stage_pieces(model, whole, 1)))


def weights(
    model: Model, stage: Stage, *, scheme: Quantization, dtype: str, tensor_parallel: int
) -> Estimate:
    """Weights of one rank of a stage, with their margin."""
    best = weight_bytes(model, stage, scheme=scheme, dtype=dtype, tensor_parallel=tensor_parallel)
    margin = best * (0.05 if model.reference else 0.01)
    because = (
        f"{gib(best)} of {scheme.title} on each of {tensor_parallel * stage.of} GPU(s), by tensor shapes"
    )
    return Estimate(low=best - margin, best=best, high=best + margin, stands_on="formula", because=because)
