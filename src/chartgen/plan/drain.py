"""How a pod leaves: first out of the endpoints, then the answers end, then the process."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption, house, number, whole
from chartgen.kernel.decision import fact, worked_out
from chartgen.kernel.units import Seconds, Tokens
from chartgen.plan.types import Drain


def plan_drain(*, answer: Tokens, gap: Seconds, can_drain: bool, release: str) -> Drain:
    """Let the longest answer end: `answer` tokens with `gap` seconds between them."""
    pre_stop = house("pre-stop-sleep")
    floor, ceiling = whole("drain-floor"), whole("drain-ceiling")
    longest = math.ceil(answer * gap)
    if can_drain:
        seconds = min(max(longest, floor), ceiling)
        drain = worked_out(
            seconds,
            f"The longest answer, {answer} tokens at {gap * 1000:.0f} ms, takes {longest} s; at least {floor} s and "
            f"at most {ceiling} s ({assumption('drain-ceiling').because})",
        )
    else:
        drain = fact(
            0,
            f"vLLM {release} has no drain: answers are cut when it is told to stop (from 0.18.0 on it can wait)",
        )
    margin = number("drain-margin")
    grace = math.ceil(pre_stop.value + drain.value + margin)
    return Drain(
        pre_stop=pre_stop,
        drain=drain,
        grace=worked_out(
            grace,
            f"{pre_stop.value} s before the stop signal, {drain.value} s of drain and {margin:.0f} s to end: "
            f"{assumption('drain-margin').because}",
        ),
    )
