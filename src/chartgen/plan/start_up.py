"""How long a start takes, and how long the start-up probe waits for it."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption, house, number, whole
from chartgen.kernel.decision import worked_out
from chartgen.kernel.units import GIB, Bytes, gib
from chartgen.plan.types import HubCache, StartUp, Storage


def plan_start_up(*, weights: Bytes, storage: Storage) -> StartUp:
    """Budget the start from the size of the weights on disk, read over a network file system."""
    size = weights / GIB
    read, start = number("read-seconds-per-gib"), number("engine-start-seconds")
    load = worked_out(
        math.ceil(size * read + start),
        f"{gib(weights)} of weights at {read:.0f} s/GiB ({assumption('read-seconds-per-gib').because}), and "
        f"{start:.0f} s until the engine is up ({assumption('engine-start-seconds').because})",
    )
    rate = number("download-seconds-per-gib")
    fetch = (
        worked_out(
            math.ceil(size * rate),
            f"{gib(weights)} at {rate} s/GiB: {assumption('download-seconds-per-gib').because}",
        )
        if isinstance(storage, HubCache)
        else worked_out(0, "The weights are on the claim already")
    )
    safety, floor, period = number("start-up-safety"), whole("start-up-floor"), house("probe-period")
    budget = max(math.ceil(load.value * safety), floor)
    failures = math.ceil(budget / period.value)
    return StartUp(
        load=load,
        fetch=fetch,
        fetches_again=isinstance(storage, HubCache) and not storage.shared,
        period=period,
        failures=worked_out(
            failures,
            f"{failures} x {period.value} s = {failures * period.value} s: {safety:.0f} times the estimated load of "
            f"{load.value} s, at least {floor} s; {assumption('start-up-safety').because}",
        ),
    )
