"""Published measurements as questions with their answers."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import model
from chartgen.kernel.errors import UnknownName
from chartgen.speed import SpeedQuestion

POINTS = Path(__file__).resolve().parents[2] / "tests" / "cases" / "perf_points.csv"
"""The measurements, one row a run; the column `source` says where it was published.

`prompt_tokens` and `answer_tokens` are as published. InferenceX draws lengths evenly from 0.8 to 1 of them
(`random-range-ratio 0.8` in its benchmark-tmpl.yml), so `mean_share` is 0.9 there.
`kv_dtype` is what its public serving scripts set, except for Llama on H100: that script asks for fp8, but
the runs queue as a 16-bit cache does (29 requests run at once, where fp8 would hold 57).
`scheme` is the weights' quantization by its name in the catalog.
"""

Use = Literal["fit", "test", "cliff", "aside"]
"""What a row is for: fitted and tested; tested only; shows the cliff; neither, `why` says so."""

WHY = {
    "": "",
    "ranks": "the columns of one run say several replicas, its latencies equal those of a single one",
    "experimental": "the source calls its own code experimental and likely wrong; time to first token does not "
    "grow with the prompt",
    "unstated limit": "far fewer requests ran than were in flight, and the limit of the server is not stated",
    "concurrency": "the rate and lengths stated need more than three quarters of peak compute, or the concurrency "
    "was read from a batch size: probably spread over replicas",
    "warm-up": "one request alone waits longer for its first token than eight do: the first ones warmed the engine up",
    "repeated prompts": "prompts pass faster than peak compute allows: they were cached",
}
"""Why a row does not take part in the fit, by the short form in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One measured run."""

    question: SpeedQuestion
    """What ran."""
    first: float | None
    """Measured time to first token, in seconds."""
    gap: float | None
    """Measured inter-token latency, in seconds."""
    use: Use
    """What it is for."""
    why: str
    """Why it is not for more."""
    source: str
    """Where it was published."""

    @property
    def group(self) -> tuple[str, str, str]:
        """Runs that stand and fall together: model, scheme, card."""
        return (self.question.model.id, self.question.scheme or "", self.question.gpu.key)

    @property
    def running(self) -> float | None:
        """Requests that ran at once, by Little's law: the share of their life that they spent on tokens."""
        if self.first is None or self.gap is None:
            return None
        tokens = self.question.answer_tokens * self.gap
        return self.question.concurrency * tokens / (self.first + tokens)


def read_cases(path: Path = POINTS) -> list[Case]:
    """Every distinct run whose model is in the catalog, in the order of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        distinct = {tuple(row[name] for name in row if name != "source"): row for row in csv.DictReader(file)}
    return [_case(row) for row in distinct.values() if _known(row["model"])]


def missing_models(path: Path = POINTS) -> dict[str, int]:
    """Models of the table that the catalog lacks, with their rows."""
    missing: dict[str, int] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not _known(row["model"]):
                missing[row["model"]] = missing.get(row["model"], 0) + 1
    return missing


def _known(name: str) -> bool:
    try:
        model(name)
    except UnknownName:
        return False
    return True


def _case(row: dict[str, str]) -> Case:
    share = float(row["mean_share"])
    question = SpeedQuestion(
        model=model(row["model"]),
        gpu=gpu(row["gpu"]),
        prompt_tokens=round(share * int(row["prompt_tokens"])),
        answer_tokens=round(share * int(row["answer_tokens"])),
        concurrency=int(row["concurrency"]),
        scheme=row["scheme"],
        tensor_parallel=int(row["tensor_parallel"]),
        expert_parallel=row["expert_parallel"] == "yes",
        kv_dtype=row["kv_dtype"],
        release=row["release"] if row["release"][:1].isdigit() else None,
    )
    return Case(
        question=question,
        first=_seconds(row["ttft_ms"]),
        gap=_seconds(row["tpot_ms"]),
        use=row["use"],  # type: ignore[arg-type]  # the table's column holds nothing else
        why=row["why"],
        source=row["source"],
    )


def _seconds(milliseconds: str) -> float | None:
    return float(milliseconds) / 1000 if milliseconds else None
