"""What scripts/fit_speed does: fit, say how well it holds on models left out, write the catalog."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from chartgen.kernel.library import catalog_data
from chartgen.speed.efficiencies import FILE, speed_facts
from speedfit.cases import missing_models, read_cases
from speedfit.fit import fitted, left_out
from speedfit.objective import misses
from speedfit.report import HEAD, line, lines, written
from speedfit.write import updated

ABOUT = """Fit the efficiencies of the speed model to the runs in tests/cases/perf_points.csv and write them to the
catalog. Needs SciPy (pip install -e '.[fit]') and takes about a minute."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write; with --check write nothing and return 1 where the committed values differ."""
    parser = argparse.ArgumentParser(description=ABOUT)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the committed values differ")
    check = parser.parse_args(arguments).check
    efficiencies = speed_facts().efficiencies
    cases = [case for case in read_cases() if case.use == "fit"]
    print(f"{len(cases)} runs of {len({case.question.model.id for case in cases})} models")
    for name, count in missing_models().items():
        print(f"not in the catalog: {name}, {count} rows")
    found = fitted(cases, efficiencies)
    halves = left_out(cases, efficiencies)
    print(HEAD)
    for each in lines(list(misses(cases, found)), lambda miss: " ".join(miss.case.group)):
        print(written(each))
    for half in halves:
        models = {miss.case.question.model.id for miss in half}
        print(written(line(f"left out: {len(models)} models", half)))
    path = catalog_data() / FILE
    before = path.read_text(encoding="utf-8")
    after = updated(before, found, [miss for half in halves for miss in half])
    if check:
        return 0 if after == before else 1
    path.write_text(after, encoding="utf-8")
    return 0
