"""Weights by tensor shapes: what start-up logs print after loading, and what models publish."""

from __future__ import annotations

import pytest

from chartgen.catalog.models import Model, models
from chartgen.kernel.units import GIB, MIB
from chartgen.memory.engine import behaviour
from chartgen.memory.fit import estimate
from chartgen.memory.release import release
from chartgen.memory.stages import layer_counts, stages
from chartgen.memory.weights import allocated, parameters
from memory_logs import Row, questions

LOADED = [row for row in questions() if row.cells["weights_gib"] and row.cells["pp"] == "1"]

MIXED = {"k049", "k220", "k224", "k243", "k255", "k257"}
"""Copies whose makers left parts plain that their names do not tell, or that were started for text only."""


@pytest.mark.parametrize("row", LOADED, ids=lambda row: row.id)
def test_loaded_weights_follow_from_shapes(row: Row) -> None:
    """Weights worked out from tensor shapes are within 1.5 % of what the engine printed, plus 0.05 GiB."""
    logged = row.number("weights_gib")
    worked_out = estimate(row.question()).ranks[0].weights.best / GIB
    bound = 0.25 if row.id in MIXED else 0.015
    assert worked_out == pytest.approx(logged, rel=bound, abs=0.05)


@pytest.mark.parametrize("model", [found for found in models() if found.parameters], ids=lambda found: found.key)
def test_shapes_add_up_to_the_published_parameters(model: Model) -> None:
    """The parts of a model hold as many parameters as its publisher counts, to half a percent."""
    assert parameters(model) == pytest.approx(model.parameters, rel=0.005 if model.layers > 12 else 0.02)


@pytest.mark.parametrize(
    ("layers", "count", "expected"),
    [
        (32, 4, [8, 8, 8, 8]),
        (61, 2, [31, 30]),
        (80, 3, [27, 27, 26]),
        (61, 4, [15, 15, 16, 15]),
        (62, 4, [15, 16, 16, 15]),
        (7, 4, [2, 2, 2, 1]),
    ],
)
def test_layers_are_dealt_as_the_engine_deals_them(layers: int, count: int, expected: list[int]) -> None:
    """A remainder goes to the stages before the last, from the back."""
    assert layer_counts(layers, count) == expected


@pytest.mark.parametrize("model", models(), ids=lambda found: found.key)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_stages_hold_every_layer_once(model: Model, count: int) -> None:
    """However a model is cut, its stages hold each layer, dense block and expert block exactly once."""
    cut = stages(model, count)
    assert sum(stage.layers for stage in cut) == model.layers
    assert sum(stage.dense for stage in cut) == (model.feed_forward.layers if model.feed_forward else 0)
    assert sum(stage.expert for stage in cut) == (model.experts.layers if model.experts else 0)


@pytest.mark.parametrize(
    ("at", "mib", "expected"),
    [
        ("0.19.0", 9.0, 9.0),
        ("0.19.0", 43.0, 44.0),
        ("0.19.0", 24.5, 24.5),
        ("0.19.0", 31.5, 32.0),
        ("0.22.0", 24.5, 26.0),
        ("0.22.0", 96.0, 96.0),
    ],
)
def test_large_tensors_take_whole_steps(at: str, mib: float, expected: float) -> None:
    """PyTorch's allocator rounds large tensors up; what it splits off counts only where the device is measured."""
    assert allocated(mib * MIB, behaviour(release(at))) == expected * MIB
