"""Published recipes as questions to the planner: what experts run a model on, by model, precision and card."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from chartgen.catalog.assumptions import number, whole
from chartgen.catalog.gpus import Gpu, gpu
from chartgen.catalog.models import Model, model
from chartgen.catalog.quantizations import quantization
from chartgen.kernel.errors import Infeasible, UnknownName
from chartgen.kernel.units import Tokens
from chartgen.memory.deployment import Deployment
from chartgen.memory.fit import Fit, estimate
from chartgen.memory.layouts import Need, smallest
from chartgen.memory.support import obstacle

CASES = Path(__file__).parent / "cases"
NEWEST = "0.33.0"
NODES = 4


@cache
def domain() -> Mapping[str, Any]:
    """What stands beside the table."""
    found: Mapping[str, Any] = yaml.safe_load((CASES / "recipes_domain.yaml").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One published configuration of a known model on a known card."""

    cells: Mapping[str, str]
    """The row of the table."""
    model: Model
    """The model."""
    card: Gpu
    """The card."""
    scheme: str
    """The quantization scheme."""

    @property
    def scored(self) -> bool:
        """A person's choice for this model on this card."""
        chosen = self.cells["status"] in {"recommended", "minimum"}
        return chosen and self.cells["collector"] not in domain()["unscored"]

    @property
    def gpus(self) -> int | None:
        """GPUs that one copy takes; data parallel copies without expert parallel are copies of their own."""
        counted = self.whole("gpus_per_replica")
        copies = self.whole("dp") or 1
        alone = self.cells["ep"] in {"", "false", "False", "0"}
        return counted // copies if counted and alone and counted % copies == 0 else counted

    @property
    def length(self) -> int:
        """The context: as stated, else the domain's, within the model's limit."""
        stated = self.whole("max_model_len")
        return stated or min(self.model.max_position_embeddings, domain()["context"])

    @property
    def cell(self) -> tuple[str, str, str]:
        """Model, precision and card: what published answers are compared within."""
        return (self.model.id, self.cells["quantization"], self.card.key)

    def whole(self, column: str) -> int | None:
        """A cell as a whole number; None where it is empty or a word."""
        try:
            return int(float(self.cells[column]))
        except ValueError:
            return None

    def release(self) -> str:
        """The release of its day."""
        day = self.cells["date"]
        return next((entry["release"] for entry in domain()["releases"] if day < entry["before"]), NEWEST)


@cache
def recipes() -> tuple[Recipe, ...]:
    """Every row whose model, card and precision are known, without those that are marked as wrong."""
    return tuple(_known())


def _known() -> Iterator[Recipe]:
    known = domain()
    with (CASES / "recipes.csv").open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            marked = any(word in cells["notes"] for word in known["wrong"])
            offloads = any(flag in cells["other_flags"] for flag in known["offload"])
            asked = known["schemes"].get(cells["quantization"])
            if marked or offloads or asked is None:
                continue
            try:
                found = model(cells["model_hf_id"])
                card = gpu(known["cards"].get(cells["gpu_norm"], cells["gpu_norm"]))
            except UnknownName:
                continue
            yield Recipe(cells=cells, model=found, card=card, scheme=_scheme(found, asked))


def _scheme(found: Model, asked: str) -> str:
    stored = quantization(found.checkpoint.scheme)
    as_stored = asked == "stored" or (stored.key != "none" and stored.bits == quantization(asked).bits)
    return stored.key if as_stored else asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One cell at one length: what the planner chose, and what is published."""

    cell: tuple[str, str, str]
    """Model, precision, card."""
    length: int
    """Context, in tokens."""
    chosen: int | None
    """GPUs that the planner chose; None where it found nothing."""
    published: frozenset[int]
    """GPU counts that are published for the cell."""

    @property
    def hit(self) -> bool:
        """The choice is a published one."""
        return self.chosen in self.published

    @property
    def near(self) -> bool:
        """The choice is within a factor of two of a published one."""
        return any(self.chosen and count / 2 <= self.chosen <= count * 2 for count in self.published)


def scores() -> list[Scored]:
    """Every scored cell, once for each of its lengths."""
    published: dict[tuple[str, str, str], set[int]] = {}
    asked: dict[tuple[tuple[str, str, str], int], Recipe] = {}
    for recipe in recipes():
        if recipe.gpus:
            published.setdefault(recipe.cell, set()).add(recipe.gpus)
            if recipe.scored:
                asked[recipe.cell, recipe.length] = recipe
    return [
        Scored(cell=cell, length=length, chosen=chosen(recipe), published=frozenset(published[cell]))
        for (cell, length), recipe in asked.items()
    ]


def chosen(recipe: Recipe) -> int | None:
    """GPUs that the planner gives an interactive workload of this model, precision, card and length."""
    need = Need(
        longest=Tokens(recipe.length),
        typical=Tokens(int(recipe.length * (number("prompt-share") + number("answer-share")))),
        full_length=whole("full-length-requests-interactive"),
    )
    asked = Deployment(
        model=recipe.model,
        gpu=recipe.card,
        release=NEWEST,
        quantization=recipe.scheme,
        gpu_memory_utilization=number("gpu-memory-utilization"),
    )
    try:
        return smallest(asked, need, max(recipe.card.per_node), nodes=NODES).fit.deployment.gpus
    except Infeasible:
        return None


def refusals() -> list[tuple[Recipe, str]]:
    """Recipes with a full layout that the model calls impossible, with its reason."""
    found = []
    for recipe in recipes():
        size = recipe.whole("tp_effective") or recipe.whole("tp")
        if size is None or (recipe.whole("dp") or 1) > 1:
            continue
        because = obstacle(recipe.model, recipe.scheme, size)
        if because is not None and recipe.model.experts is not None:
            because = obstacle(recipe.model, recipe.scheme, size, expert_parallel=True)
        if because is None:
            fit = as_published(recipe, size)
            because = fit.because if fit.verdict == "no" else None
        if because is not None:
            found.append((recipe, because))
    return found


def as_published(recipe: Recipe, size: int) -> Fit:
    """The memory of a recipe with its own flags, under the release of its day."""
    share = recipe.cells["gpu_memory_utilization"]
    return estimate(
        Deployment(
            model=recipe.model,
            gpu=recipe.card,
            release=recipe.release(),
            quantization=recipe.scheme,
            tensor_parallel=size,
            pipeline_parallel=recipe.whole("pp") or 1,
            max_model_len=recipe.whole("max_model_len") or min(recipe.length, domain()["shortest"]),
            max_num_seqs=recipe.whole("max_num_seqs"),
            max_num_batched_tokens=recipe.whole("max_num_batched_tokens"),
            gpu_memory_utilization=float(share) if share else None,
            kv_cache_dtype="fp8" if "fp8" in recipe.cells["kv_cache_dtype"] else "auto",
        )
    )
