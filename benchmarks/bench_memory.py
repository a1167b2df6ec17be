"""The memory model: how far it is from real start-up logs, and how fast it answers.

python benchmarks/bench_memory.py            # accuracy, with the worst rows and those outside the domain
python benchmarks/bench_memory.py --cross    # every model on every card: answers a second, verdicts
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from statistics import mean, median, quantiles

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from chartgen.catalog.gpus import gpus
from chartgen.catalog.models import models
from chartgen.kernel.errors import Infeasible
from chartgen.kernel.units import Tokens
from chartgen.memory.deployment import Deployment
from chartgen.memory.fit import estimate
from chartgen.memory.layouts import Need, runs, smallest
from memory_logs import Miss, misses, rows

WORST = 12
SMALL_GIB = 8


def statistics(name: str, found: list[Miss]) -> str:
    """One line of error statistics."""
    percents = [miss.percent for miss in found]
    top = quantiles(percents, n=20, method="inclusive")[-1] if len(percents) > 1 else percents[0]
    return (
        f"{name.ljust(28)} {len(found):3} rows  mean {mean(percents):5.2f} %  median {median(percents):5.2f} %  "
        f"95th {top:5.2f} %  worst {max(percents):6.2f} %  mean {mean(miss.gib for miss in found):.3f} GiB"
    )


def accuracy() -> None:
    """Error statistics over all rows inside the domain, by release and by size of pool."""
    found = misses()
    print(statistics("all", found))
    print(statistics("pools under 8 GiB", [miss for miss in found if miss.logged < SMALL_GIB]))
    for since, until in (("0.6", "0.11"), ("0.11", "0.17"), ("0.17", "0.20"), ("0.20", "1")):
        part = [miss for miss in found if _number(since) <= _number(miss.row.release) < _number(until)]
        print(statistics(f"releases {since} to below {until}", part))
    print("\nworst:")
    for miss in sorted(found, key=lambda miss: -miss.percent)[:WORST]:
        cells = miss.row.cells
        print(
            f"  {miss.row.id} {miss.percent:5.1f} %  {miss.pool:7.2f} for {miss.logged:7.2f} GiB  "
            f"{cells['model_hf_id']} on {cells['tp']} x {cells['gpu_type']}, {miss.row.release}"
        )
    wrong: Counter[tuple[str, str]] = Counter()
    for row in (row for row in rows() if row.incomplete is None and row.outside is None):
        wrong[row.cells["outcome"], estimate(row.question()).verdict] += 1
    print("\noutcome and verdict:", ", ".join(f"{log} {said}: {count}" for (log, said), count in sorted(wrong.items())))
    complete = [row for row in rows() if row.incomplete is None]
    print(f"\noutside the domain, of {len(complete)} complete questions:")
    for row in complete:
        if row.outside:
            print(f"  {row.id}: {row.outside}")
    print(f"\n{len(rows()) - len(complete)} rows ask no complete question:")
    for reason, count in Counter(row.incomplete for row in rows() if row.incomplete).most_common():
        print(f"  {count} x {reason}")


def _number(release: str) -> tuple[int, int]:
    major, minor = release.split(".")[:2] if "." in release else (release, "0")
    return int(major), int(minor)


def cross() -> None:
    """The whole cross table of models and cards: time of one estimate and of one search for a layout."""
    verdicts: Counter[str] = Counter()
    known, cards = models(), gpus()
    started = time.process_time()
    for model in known:
        for card in cards:
            try:
                fit = estimate(Deployment(model=model, gpu=card, release="0.33.0", max_model_len=8192))
                verdicts[fit.verdict] += 1
            except NotImplementedError:
                verdicts["no rule"] += 1
    each = (time.process_time() - started) / len(known) / len(cards)
    print(f"{len(known)} models x {len(cards)} cards: {each * 1e3:.2f} ms CPU an estimate; {dict(verdicts)}")
    need = Need(longest=Tokens(8192), typical=Tokens(2048), full_length=1)
    gpus_needed: Counter[object] = Counter()
    started = time.process_time()
    asked = 0
    for model in known:
        for card in cards:
            if not runs(card, model.checkpoint.scheme):
                continue
            asked += 1
            try:
                question = Deployment(model=model, gpu=card, release="0.33.0")
                found = smallest(question, need, max(card.per_node))
                gpus_needed[found.fit.deployment.gpus] += 1
            except Infeasible:
                gpus_needed["none"] += 1
            except NotImplementedError:
                gpus_needed["no rule"] += 1
    each = (time.process_time() - started) / asked
    print(f"{asked} searches for a layout: {each * 1e3:.2f} ms CPU each; GPUs needed {dict(gpus_needed)}")


if __name__ == "__main__":
    cross() if "--cross" in sys.argv[1:] else accuracy()
