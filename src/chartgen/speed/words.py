"""Speed in sentences: where the time goes, and what it stands on."""

from __future__ import annotations

from chartgen.speed.question import Measurement
from chartgen.speed.replica import Replica
from chartgen.speed.steady import MILLI
from chartgen.speed.step import Step

_PARTS = {
    "products": "weights",
    "cache": "KV cache",
    "messages": "all-reduces",
    "overhead": "launches and the rest",
}
"""The parts of a step without a prompt, as readers say them."""


def duration(seconds: float) -> str:
    """Seconds with three digits, as people write them: 4.2 s, 38.4 ms."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds / MILLI:.3g} ms"


def account(asked: Replica, concurrency: float, measured: Measurement | None) -> str:
    """Where the time goes at a concurrency, and what the figures stand on."""
    flow = asked.flow(concurrency)
    found = asked.running(flow.running)
    sentences = [
        f"with {flow.running:.0f} running, a step takes {duration(found.decode.seconds)} ({_shares(found.decode)})"
    ]
    if flow.running > 1:
        sentences[0] += f" and the prompts of others add {duration(found.gap - found.decode.seconds)} a token"
    sentences.append(f"a prompt of {asked.traffic.prompt} tokens adds {duration(found.prompt)} to the steps it shares")
    if concurrency > flow.running:
        sentences.append(f"{concurrency - flow.running:.0f} wait: {_bound(asked)}")
    return "; ".join([*sentences, standing(asked, measured)])


def _shares(parts: Step) -> str:
    taken = {word: getattr(parts, name) for name, word in _PARTS.items() if getattr(parts, name) > 0}
    return ", ".join(f"{word} {duration(seconds)}" for word, seconds in taken.items())


def _bound(asked: Replica) -> str:
    if asked.pool is not None and asked.pool < asked.sequences:
        return f"the KV cache pool holds {asked.pool:.0f} requests of {asked.traffic.context:.0f} tokens"
    return f"a batch holds {asked.sequences} sequences"


def standing(asked: Replica, measured: Measurement | None) -> str:
    """What the figures stand on."""
    if measured:
        return "measured figures stand as given"
    if asked.notes:
        return f"an estimate with a wide margin: {', '.join(asked.notes)}"
    return "an estimate by efficiencies fitted on published runs"
