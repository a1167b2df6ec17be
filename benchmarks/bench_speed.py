"""How well the speed model predicts published runs, by card, and how fast it answers.

Run as `python benchmarks/bench_speed.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from timeit import timeit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from chartgen.kernel.units import Seconds
from chartgen.speed import Objectives, capacity, predict
from chartgen.speed.efficiencies import rates, speed_facts
from speedfit.cases import WHY, Case, missing_models, read_cases
from speedfit.cliffs import cliffs
from speedfit.objective import Miss, misses
from speedfit.report import HEAD, lines, written

CALLS = 300


def below_the_cliff(cases: Iterable[Case]) -> None:
    """Errors of the runs below the cliff, by card."""
    found = list(misses((case for case in cases if case.use in {"fit", "test"}), rates()))
    print("Below the cliff, by card")
    print(HEAD)
    for each in lines(found, lambda miss: miss.case.question.gpu.title):
        print(written(each))
    print("\nThe same, by model and scheme")
    for each in lines(found, lambda miss: f"{miss.case.question.model.id} {miss.case.question.scheme}"):
        print(written(each))
    held = speed_facts().held_out
    print(
        f"\nEach half of the models by a fit on the other half: inter-token latency {held.inter_token_latency:.1%}, "
        f"time to first token {held.time_to_first_token:.1%} (scripts/fit_speed works them out again)"
    )


def set_aside(cases: Iterable[Case]) -> None:
    """Errors of the runs that are set aside, by reason."""
    found = list(misses((case for case in cases if case.use == "aside"), rates()))
    print("\nSet aside, by reason (and tested, but not in the fit: see the table)")
    for each in lines(found, _reason):
        print(written(each))
    for short, why in WHY.items():
        if why:
            print(f"  {short}: {why}")
    for name, count in missing_models().items():
        print(f"  {count} rows of {name}: not in the catalog")


def _reason(miss: Miss) -> str:
    return miss.case.why


def at_the_cliff(cases: Iterable[Case]) -> None:
    """Requests that ran at once beyond the cliff, against the pool that the memory model works out."""
    print("\nBeyond the cliff: requests that run at once, and time to first token in seconds")
    print(f"{'':90}worked out  measured  factor   first  measured")
    for each in cliffs(cases):
        asked = each.case.question
        name = f"{asked.model.id} {asked.scheme}, {asked.tensor_parallel} x {asked.gpu.title}"
        traffic = f"{asked.prompt_tokens}/{asked.answer_tokens} at {asked.concurrency}"
        print(
            f"{name:70}{traffic:20}{each.worked_out:10.1f}{each.measured:10.1f}{each.factor:8.2f}"
            f"{each.first:8.1f}{each.case.first or 0:10.1f}"
        )


def how_fast(case: Case) -> None:
    """Microseconds of an answer, warm."""
    goal = Objectives(time_to_first_token=Seconds(2), inter_token_latency=Seconds(0.05))
    seconds = timeit(lambda: predict(case.question), number=CALLS) / CALLS
    print(f"\npredict: {seconds * 1e6:.0f} microseconds", end=", ")
    seconds = timeit(lambda: capacity(case.question, goal), number=CALLS) / CALLS
    print(f"capacity: {seconds * 1e6:.0f} microseconds")


if __name__ == "__main__":
    every = read_cases()
    below_the_cliff(every)
    set_aside(every)
    at_the_cliff(every)
    how_fast(every[0])
