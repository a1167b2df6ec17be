"""A Replica: a question resolved to work, card and limits, and the three ways it may turn out."""

from __future__ import annotations

from dataclasses import field, replace
from math import ceil, inf
from typing import Literal

from chartgen.catalog.engines import newest
from chartgen.kernel.dataclass import dataclass
from chartgen.memory.deployment import visible_memory
from chartgen.memory.engine import Behaviour, behaviour
from chartgen.memory.fit import Deployment, cache_pool
from chartgen.memory.limits import Given, Limits, resolve
from chartgen.memory.release import release
from chartgen.memory.stages import stages
from chartgen.memory.weights import BYTES
from chartgen.speed.answer import Ground
from chartgen.speed.card import Card, card_of
from chartgen.speed.efficiencies import Margins, Rates, SpeedFacts, rates, speed_facts
from chartgen.speed.question import SpeedQuestion
from chartgen.speed.steady import Engine, Steady, Traffic, steady
from chartgen.speed.work import Layout, work_of

Way = Literal["fast", "likely", "slow"]
"""How it may turn out, within the margins."""

WAYS: tuple[Way, ...] = ("fast", "likely", "slow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Means over requests at one concurrency, in one way it may turn out."""

    first: float
    """Seconds to the first token, queueing included."""
    gap: float
    """Seconds from token to token."""
    requests: float
    """Requests finished a second."""
    running: float
    """Requests that run at once; the others queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One replica, ready to be asked at any concurrency."""

    engine: Engine
    """Its work, card and limits."""
    traffic: Traffic
    """The mean request."""
    sequences: int
    """Sequences of a batch at most."""
    pool: float | None
    """Requests of mean length that the KV cache pool holds; None: not known."""
    ground: Ground
    """What the efficiencies stand on."""
    notes: tuple[str, ...]
    """Why they stand there."""
    facts: SpeedFacts
    """Margins."""
    known: dict[float, Steady] = field(default_factory=dict, repr=False, compare=False)
    """Latencies that are worked out already: the three ways mostly ask for the same."""

    def limit(self, way: Way = "likely") -> float:
        """Requests that run at once at most."""
        if self.pool is None:
            return self.sequences
        margin = self.margin(self.facts.cliff)
        return min(self.sequences, {"slow": self.pool / margin, "likely": self.pool, "fast": self.pool * margin}[way])

    def margin(self, margins: Margins) -> float:
        """The factor by which a quantity may be off here."""
        return margins.fitted if self.ground == "fitted" else margins.assumed

    def running(self, count: float) -> Steady:
        """Latencies with so many requests running."""
        if count not in self.known:
            self.known[count] = steady(self.engine, self.traffic, count)
        return self.known[count]

    def flow(self, concurrency: float, way: Way = "likely") -> Flow:
        """Means at a concurrency: beyond the limit, requests wait for one that runs to finish."""
        running = max(1.0, min(concurrency, self.limit(way)))
        found = self.running(running)
        first = found.first * self._factor(self.facts.time_to_first_token, way)
        gap = found.gap * self._factor(self.facts.inter_token_latency, way)
        life = first + self.traffic.answer * gap
        requests = running / life
        queue = max(0.0, concurrency - running) / requests
        return Flow(first=first + queue, gap=gap, requests=requests, running=running)

    def _factor(self, margins: Margins, way: Way) -> float:
        margin = self.margin(margins)
        return {"slow": margin, "likely": 1.0, "fast": 1 / margin}[way]


def replica(question: SpeedQuestion, using: Rates | None = None) -> Replica:
    """Resolve a question; `using` replaces the efficiencies in force, as a fit does.

    Raises:
        UnknownName: a quantization or a cache dtype that nobody knows.
        ValueError: the release is none, or a count is below one.
        NotImplementedError: the model has a kind of layer whose weights are not worked out.
    """
    _check(question)
    facts, at = speed_facts(), using or rates()
    rules = behaviour(release(question.release or newest()))
    works = work_of(_layout(question))
    schemes = [scheme for work in works for scheme in work.schemes()]
    card = card_of(question.gpu, schemes, question.tensor_parallel, at, facts, question.mig)
    visible = visible_memory(question.gpu, question.mig).best
    given = Given(max_num_seqs=question.max_num_seqs, max_num_batched_tokens=question.max_num_batched_tokens)
    limits = resolve(given, question.model, question.gpu, visible, rules)
    uncounted = dict.fromkeys(kind for work in works for kind in work.uncounted)
    notes = (*_untried(question, card, facts), *(f"the cache of {kind} is not counted" for kind in uncounted))
    return Replica(
        engine=Engine(works=works, card=card, rates=at, chunk=limits.max_num_batched_tokens.value),
        traffic=Traffic(prompt=question.prompt_tokens, answer=question.answer_tokens),
        sequences=limits.max_num_seqs.value,
        pool=None if uncounted else _held(question, limits, rules),
        ground="assumed" if notes else "fitted",
        notes=notes,
        facts=facts,
    )


def _check(question: SpeedQuestion) -> None:
    counts = {
        "prompt_tokens": question.prompt_tokens,
        "answer_tokens": question.answer_tokens,
        "concurrency": question.concurrency,
        "tensor_parallel": question.tensor_parallel,
        "pipeline_parallel": question.pipeline_parallel,
    }
    for name, count in counts.items():
        if not 1 <= count < inf:
            msg = f"{name} is {count}, at least 1 would do"
            raise ValueError(msg)


def _layout(question: SpeedQuestion) -> Layout:
    return Layout(
        model=question.model,
        scheme=question.scheme,
        tensor_parallel=question.tensor_parallel,
        pipeline_parallel=question.pipeline_parallel,
        kv_dtype=question.kv_dtype,
    )


def _held(question: SpeedQuestion, limits: Limits, rules: Behaviour) -> float | None:
    """Requests of mean length that the pool holds: what a running one holds on average, windows settled."""
    if question.kv_pool_bytes is None:
        return None
    deployment = Deployment(
        model=question.model,
        gpu=question.gpu,
        release=question.release or newest(),
        kv_cache_dtype=question.kv_dtype,
        tensor_parallel=question.tensor_parallel,
        pipeline_parallel=question.pipeline_parallel,
    )
    length = ceil(question.prompt_tokens + question.answer_tokens / 2)
    element = BYTES[question.model.dtype]
    held = max(
        replace(cache_pool(deployment, stage, limits, element, rules), in_flight=0).request_bytes(length)
        for stage in stages(question.model, question.pipeline_parallel)
    )
    return question.kv_pool_bytes / held


def _untried(question: SpeedQuestion, card: Card, facts: SpeedFacts) -> tuple[str, ...]:
    """Why the efficiencies are carried over from elsewhere; empty where such runs took part in the fit."""
    gpu = question.gpu
    alike = [tried for tried in facts.tried if gpu.compute_capability in tried.capability]
    known = {compute for tried in alike for compute in tried.compute}
    cards = f"{gpu.architecture} cards ({gpu.compute_capability})"
    notes = [
        f"few or no runs with {compute} products on {cards} took part in the fit"
        for compute in sorted(card.compute - known)
    ]
    if question.tensor_parallel > 1 and not any(card.carrier in tried.links for tried in alike):
        notes.append(f"few or no runs over {card.carrier} on {cards} took part in the fit")
    if question.mig is not None:
        notes.append("no run on a slice of a card took part in the fit")
    if question.pipeline_parallel > 1:
        notes.append("no run with pipeline parallel took part in the fit")
    if question.model.reference:
        notes.append(f"{question.model.id} stands for a bare size")
    if question.release is not None and release(question.release) < release(facts.oldest):
        notes.append(f"vLLM {question.release} is older than any run of the fit")
    return tuple(notes)
