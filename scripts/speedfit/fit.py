"""The fit: least squares over the logarithms of the free efficiencies, and a check on models left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Final

from scipy.optimize import least_squares

from chartgen.speed.efficiencies import Efficiency, Rates
from speedfit.cases import Case
from speedfit.objective import SCATTER, Miss, free, misses, moved, residuals
from speedfit.report import quantile

ONE_HALF: Final = frozenset({"meta-llama/Llama-3.1-70B-Instruct", "openai/gpt-oss-120b"})
"""Models of one half; the others are the other. Each half has dense and expert models and about half of the runs."""
HELD: Final = 0.9
"""Share of left-out runs that the margins hold."""


def fitted(cases: Sequence[Case], efficiencies: Mapping[str, Efficiency]) -> Rates:
    """The efficiencies that make the misses of these runs small, starting from what is expected."""
    start = Rates(**{name: entry.expected for name, entry in efficiencies.items()})
    names = free(efficiencies)
    found = least_squares(
        lambda logs: residuals(cases, moved(start, names, logs), efficiencies),
        [log(efficiencies[name].expected) for name in names],
        loss="soft_l1",
        f_scale=SCATTER,
    )
    return moved(start, names, list(found.x))


def left_out(cases: Sequence[Case], efficiencies: Mapping[str, Efficiency]) -> list[list[Miss]]:
    """The misses of each half of the models under a fit on the other half."""
    halves = [[case for case in cases if (case.question.model.id in ONE_HALF) is first] for first in (True, False)]
    return [list(misses(halves[1 - index], fitted(halves[index], efficiencies))) for index in range(len(halves))]


def margin(logs: Sequence[float]) -> float:
    """The factor either way that holds most of these misses."""
    return exp(quantile((abs(each) for each in logs), HELD))
