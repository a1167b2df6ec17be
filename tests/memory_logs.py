"""Real start-up logs as questions to the memory model: the table, its domain, and how a row asks."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import model
from chartgen.kernel.units import GIB
from chartgen.memory.fit import Deployment, Fit, Rank, estimate

CASES = Path(__file__).parent / "cases"

STORED = {"compressed-tensors", ""}
"""Values of the quantization column that mean: as the checkpoint is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One engine start."""

    cells: Mapping[str, str]
    """The row of the table."""
    release: str
    """The engine's release, from the row or from its source's text."""
    outside: str | None
    """Why the row is outside the domain; None when it is inside."""
    unsaid: str | None
    """What its source leaves open beyond an empty cell."""

    @property
    def id(self) -> str:
        """The row's name in the table."""
        return self.cells["id"]

    @property
    def incomplete(self) -> str | None:
        """What the row does not say and a question needs; None when it says all."""
        missing = [name for name, value in (("card", self.cells["gpu_type"]), ("release", self.release)) if not value]
        if not self.cells["tp"]:
            missing.append("tensor parallel size")
        return f"no {' and no '.join(missing)} stated" if missing else self.unsaid

    def number(self, column: str) -> float | None:
        """A cell as a number; None when it is empty."""
        return float(self.cells[column]) if self.cells[column] else None

    def whole(self, column: str) -> int | None:
        """A cell as a whole number; None when it is empty."""
        found = self.number(column)
        return None if found is None else int(found)

    def question(self, card: str | None = None) -> Deployment:
        """The row as a question; `card` stands in where the answer does not depend on one."""
        known = model(self.cells["model_hf_id"])
        asked = self.cells["quantization"]
        dtype = self.cells["dtype"]
        return Deployment(
            model=known,
            gpu=gpu(card or self.cells["gpu_type"]),
            release=self.release,
            quantization=None if asked in STORED or known.checkpoint.scheme != "none" else asked,
            dtype=dtype if dtype in {"float16", "bfloat16", "float32"} else None,
            kv_cache_dtype=self.cells["kv_cache_dtype"] or "auto",
            tensor_parallel=self.whole("tp") or 1,
            pipeline_parallel=self.whole("pp") or 1,
            max_model_len=self.whole("max_model_len"),
            max_num_seqs=self.whole("max_num_seqs"),
            max_num_batched_tokens=self.whole("max_num_batched_tokens"),
            gpu_memory_utilization=self.number("gpu_memory_utilization"),
            enforce_eager=self.cells["enforce_eager"] == "True",
        )


@cache
def rows() -> tuple[Row, ...]:
    """Every row of the table."""
    domain: dict[str, Any] = yaml.safe_load((CASES / "kv_logs_domain.yaml").read_text(encoding="utf-8"))
    with (CASES / "kv_logs.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Row(
                cells=cells,
                release=cells["vllm_version"] or domain["releases"].get(cells["id"], ""),
                outside=domain["outside"].get(cells["id"]),
                unsaid=domain["incomplete"].get(cells["id"]),
            )
            for cells in csv.DictReader(file)
        )


def questions() -> list[Row]:
    """Rows that ask a complete question inside the domain."""
    return [row for row in rows() if row.incomplete is None and row.outside is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """How far the pool of one row is from its log."""

    row: Row
    """The row."""
    pool: float
    """The pool as worked out, in GiB."""
    logged: float
    """The pool as logged, in GiB."""

    @property
    def gib(self) -> float:
        """Absolute error, in GiB."""
        return abs(self.pool - self.logged)

    @property
    def percent(self) -> float:
        """Absolute error, in percent of the logged pool."""
        return 100 * self.gib / self.logged


def printed_rank(fit: Fit) -> Rank:
    """The rank whose pool the log prints: the first stage's."""
    return fit.ranks[0]


def misses() -> list[Miss]:
    """Every row inside the domain whose log prints a pool of positive size."""
    found = []
    for row in questions():
        logged = row.number("available_kv_gib")
        if logged is not None and logged > 0:
            pool = printed_rank(estimate(row.question())).kv_cache.best / GIB
            found.append(Miss(row=row, pool=pool, logged=logged))
    return found
