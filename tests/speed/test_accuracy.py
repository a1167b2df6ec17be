"""Published measurements: the bars that the speed model must clear, and the facts behind them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import exp
from statistics import median

import pytest

from chartgen.speed.efficiencies import rates, speed_facts
from chartgen.speed.replica import replica
from speedfit.cases import WHY, Case, read_cases
from speedfit.cliffs import Cliff, cliffs
from speedfit.objective import Miss, cost, free, misses

CASES = read_cases()
BELOW = [case for case in CASES if case.use in {"fit", "test"}]
FITTED = [case for case in CASES if case.use == "fit"]


@pytest.fixture(scope="module")
def below() -> list[Miss]:
    """The misses of every run below the cliff."""
    return list(misses(BELOW, rates()))


def off(logs: list[float]) -> float:
    """The median absolute error of logarithmic misses."""
    return median(abs(exp(log) - 1) for log in logs)


def test_the_table_gives_enough_runs_on_enough_cards() -> None:
    """The bars below are held on hundreds of runs of several models and cards."""
    assert len(BELOW) >= 600
    assert len({case.question.model.id for case in BELOW}) >= 6
    assert len({case.question.gpu.key for case in BELOW}) >= 5


def test_every_row_that_is_not_fitted_says_why() -> None:
    """A row is left out of the fit only for a reason that is written out."""
    assert {case.why for case in CASES} <= set(WHY)
    assert all(case.why for case in CASES if case.use in {"test", "aside"})


def test_inter_token_latency_is_within_a_fifth(below: list[Miss]) -> None:
    """Half of the runs below the cliff are predicted to within 20 %."""
    assert off([miss.gap for miss in below if miss.gap is not None]) <= 0.20


def test_time_to_first_token_is_within_a_third(below: list[Miss]) -> None:
    """Half of the runs below the cliff are predicted to within 35 %."""
    assert off([miss.first for miss in below if miss.first is not None]) <= 0.35


@pytest.mark.parametrize(
    "card", sorted({case.question.gpu.key for case in FITTED if "rtx" not in case.question.gpu.key})
)
def test_no_card_is_carried_by_the_others(card: str, below: list[Miss]) -> None:
    """The bars hold for each server card alone."""
    own = [miss for miss in below if miss.case.question.gpu.key == card]
    assert off([miss.gap for miss in own if miss.gap is not None]) <= 0.20
    assert off([miss.first for miss in own if miss.first is not None]) <= 0.35


def test_the_band_holds_the_points(below: list[Miss]) -> None:
    """At least 85 % of measured latencies lie between low and high."""
    inside = [abs(miss.gap) <= miss.gap_margin for miss in below if miss.gap is not None]
    inside += [abs(miss.first) <= miss.first_margin for miss in below if miss.first is not None]
    assert sum(inside) / len(inside) >= 0.85


def test_models_left_out_of_the_fit_are_predicted_within_the_bars() -> None:
    """A fit on half of the models predicts the other half within the same bars."""
    held = speed_facts().held_out
    assert 0 < held.inter_token_latency <= 0.20
    assert 0 < held.time_to_first_token <= 0.35


CLIFFS = list(cliffs(CASES))


@pytest.mark.parametrize("cliff", CLIFFS, ids=lambda cliff: f"{cliff.case.question.gpu.key}-{cliff.measured:.0f}")
def test_the_pool_tells_where_requests_queue(cliff: Cliff) -> None:
    """The concurrency that the pool holds is within a factor of 1.5 of what ran at once in a run that queued."""
    assert cliff.factor <= 1.5


def test_enough_runs_show_the_cliff() -> None:
    """The cliff is held on runs of several layouts."""
    assert len({cliff.case.group for cliff in CLIFFS}) >= 5


def test_time_to_first_token_beyond_the_cliff_is_queueing() -> None:
    """Half of the runs that queue are predicted to within 35 %: waiting for others to finish is all there is to it."""
    assert median(abs(cliff.first / (cliff.case.first or 0) - 1) for cliff in CLIFFS) <= 0.35


@pytest.fixture(scope="module")
def best() -> float:
    """What the committed efficiencies leave of misses and distance from expectation."""
    return cost(FITTED, rates(), speed_facts().efficiencies)


@pytest.mark.parametrize("factor", [0.8, 1.25])
@pytest.mark.parametrize("name", free(speed_facts().efficiencies))
def test_the_committed_efficiencies_are_those_of_the_fit(name: str, factor: float, best: float) -> None:
    """No efficiency can be moved by a quarter to bring predictions and expectations closer to the runs."""
    moved = replace(rates(), **{name: getattr(rates(), name) * factor})
    assert cost(FITTED, moved, speed_facts().efficiencies) > best


def test_cards_are_called_tried_when_their_runs_took_part() -> None:
    """What is listed as tried has at least 20 runs in the fit, and what is not listed has fewer."""
    runs: Counter[tuple[str | None, str]] = Counter()
    for case in FITTED:
        runs.update(_grounds(case))
    for tried in speed_facts().tried:
        for word in (*tried.compute, *tried.links):
            assert sum(runs.pop((capability, word), 0) for capability in tried.capability) >= 20
    assert all(count < 20 for count in runs.values())


def _grounds(case: Case) -> set[tuple[str | None, str]]:
    card = replica(case.question).engine.card
    words = {*card.compute, *([card.carrier] if case.question.tensor_parallel > 1 else [])}
    return {(case.question.gpu.compute_capability, word) for word in words}
