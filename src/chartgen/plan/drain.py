"""How a pod leaves: first out of the endpoints, then the answers end, then the process."""

from __future__ import annotations

import math

from chartgen.catalog.assumptions import assumption, house, number, whole
from chartgen.kernel.decision import fact, worked_out
from chartgen.kernel.units import Seconds, Tokens
from chartgen.plan.types import Drain


def plan_drain(*, answer: Tokens, gap: Seconds, can_drain: bool, release: str) -> Drain:
    """Let the longest answer end: `answer` tokens with `gap` seconds between them.

    An engine is told to stop only when the pre-stop hook is over, and serves until then: so the hook waits for the
    answers of one that cannot drain (https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/).
    """
    pre_stop = house("pre-stop-sleep")
    floor, ceiling = whole("drain-floor"), whole("drain-ceiling")
    longest = math.ceil(answer * gap)
    seconds = min(max(longest, floor), ceiling)
    because = (
        f"The longest answer, {answer} tokens at {gap * 1000:.0f} ms, takes {longest} s; at least {floor} s and "
        f"at most {ceiling} s ({assumption('drain-ceiling').because})"
    )
    if can_drain:
        drain = worked_out(seconds, because)
    else:
        drain = fact(0, f"vLLM {release} has no drain (0.18.0 is the first that has): preStopSeconds waits for answers")
        pre_stop = worked_out(
            pre_stop.value + seconds,
            f"{pre_stop.value} s until no new request comes, and {seconds} s for answers that run, which vLLM "
            f"{release} cuts when it is told to stop. {because}",
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
