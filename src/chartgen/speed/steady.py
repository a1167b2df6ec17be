"""Steady traffic: requests in flight share steps, a finished one is replaced at once.

Each answer waits, token by token, for the steps of all. A new prompt goes through in chunks beside the
answers, so every prompt of another request lengthens the gaps between tokens; and it waits for the prompts
that arrived shortly before it.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.speed.card import Card
from chartgen.speed.efficiencies import Rates
from chartgen.speed.step import Batch, Step, step
from chartgen.speed.work import Work

MILLI: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One replica: its work, its card, its limits."""

    works: tuple[Work, ...]
    """The work of one rank of every pipeline stage."""
    card: Card
    """What a rank offers."""
    rates: Rates
    """The efficiencies."""
    chunk: int
    """Tokens of one step at most: `--max-num-batched-tokens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The mean request."""

    prompt: int
    """Tokens of a prompt."""
    answer: int
    """Tokens of an answer."""

    @property
    def context(self) -> float:
        """Tokens that stand before the next one, on average over an answer."""
        return self.prompt + self.answer / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """Latencies with every request in flight running: none queues for cache."""

    first: float
    """Seconds to the first token."""
    gap: float
    """Seconds from token to token."""
    decode: Step
    """A step without a prompt."""
    prompt: float
    """Seconds that one prompt adds to the steps it shares."""


def steady(engine: Engine, traffic: Traffic, running: float) -> Steady:
    """Latencies with `running` requests in flight, at least one."""
    # a pipeline works on as many batches as it has stages
    stages = len(engine.works)
    together = max(1.0, running / stages)
    others = running - 1
    batch = Batch(sequences=together, context=traffic.context)
    decode = step(engine.works, engine.card, batch, engine.rates)
    alone, shared = _prompt(engine, traffic, batch, others)
    delay = others * shared / stages
    fixed = alone + engine.rates.prompt_queue * delay + engine.rates.request_overhead * MILLI
    gap = _gap(decode.seconds, delay, fixed, traffic.answer, waits=others > 0)
    first = fixed + (gap / 2 if others > 0 else 0)
    return Steady(first=first, gap=gap, decode=decode, prompt=shared)


def _prompt(engine: Engine, traffic: Traffic, batch: Batch, others: float) -> tuple[float, float]:
    """Seconds of the steps that one prompt goes through, and what it adds to them.

    Beside other requests there would be a step in any case, with one answer at least: a pipeline may have no more
    than one request to a batch.
    """
    chunks = ceil(traffic.prompt / engine.chunk)
    size = traffic.prompt / chunks
    beside = replace(batch, sequences=max(0.0, batch.sequences - 1))
    loaded = replace(beside, prompt=size, before=(traffic.prompt - size) / 2)
    through = step(engine.works, engine.card, loaded, engine.rates).seconds
    answers = replace(beside, sequences=max(1.0, beside.sequences))
    without = step(engine.works, engine.card, answers, engine.rates).seconds if others else 0.0
    return chunks * through, chunks * max(0.0, through - without)


def _gap(decode: float, delay: float, fixed: float, answer: int, *, waits: bool) -> float:
    """Seconds from token to token.

    In one life of a request (its first token, then `answer` gaps) the others bring `delay` seconds of prompts,
    of which the gaps get their share: gap = decode + delay x gap / (first + answer x gap), where the first
    token waits for half a gap (the step that runs when the request arrives). Solved for the gap.
    """
    if not waits:
        return decode
    gaps = answer + 1 / 2
    linear = fixed - decode * gaps - delay
    return (sqrt(linear * linear + 4 * gaps * decode * fixed) - linear) / (2 * gaps)
