"""What must hold whatever the traffic, the card and the model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chartgen.catalog.gpus import Gpu, gpu, gpus
from chartgen.catalog.models import Model, model, models
from chartgen.kernel.units import GIB, Bytes, Seconds
from chartgen.speed import Band, Objectives, Speed, SpeedQuestion, capacity, predict

QUESTIONS = st.builds(
    SpeedQuestion,
    model=st.sampled_from(models()),
    gpu=st.sampled_from(gpus()),
    prompt_tokens=st.integers(1, 200_000),
    answer_tokens=st.integers(1, 20_000),
    concurrency=st.integers(1, 2000),
    tensor_parallel=st.sampled_from([1, 2, 4, 8]),
    pipeline_parallel=st.sampled_from([1, 2]),
    kv_pool_bytes=st.none() | st.integers(0, 200 * GIB).map(Bytes),
)
FEW = settings(max_examples=60, deadline=None)


def bands(found: Speed) -> list[Band[float]]:
    """Every band of an answer."""
    return [
        Band(low=each.low, best=each.best, high=each.high)
        for each in (
            found.time_to_first_token,
            found.inter_token_latency,
            found.output_tokens_per_second,
            found.requests_per_second,
        )
    ]


@FEW
@given(QUESTIONS)
def test_every_answer_is_an_ordered_band_above_nothing(question: SpeedQuestion) -> None:
    """Low, best and high are ordered and positive, and the answer has its reason."""
    found = predict(question)
    for band in bands(found):
        assert 0 < band.low <= band.best <= band.high
    assert found.because


@FEW
@given(QUESTIONS, st.integers(1, 500))
def test_more_requests_never_make_a_request_faster(question: SpeedQuestion, more: int) -> None:
    """Both latencies grow with the requests in flight."""
    few, many = predict(question), predict(replace(question, concurrency=question.concurrency + more))
    assert many.time_to_first_token.best >= few.time_to_first_token.best * (1 - 1e-9)
    assert many.inter_token_latency.best >= few.inter_token_latency.best * (1 - 1e-9)


def test_a_pipeline_with_few_requests_gets_no_faster_by_more() -> None:
    """Two stages with two, three and four requests: a second request to a batch never hastens the first."""
    question = SpeedQuestion(
        model=model("Qwen/Qwen2.5-0.5B-Instruct"),
        gpu=gpu("A10"),
        prompt_tokens=1,
        answer_tokens=1,
        concurrency=1,
        pipeline_parallel=2,
    )
    found = [predict(replace(question, concurrency=count)).time_to_first_token.best for count in range(1, 9)]
    assert found == sorted(found)


@FEW
@given(QUESTIONS, st.integers(1, 50_000))
def test_a_longer_prompt_never_comes_sooner(question: SpeedQuestion, more: int) -> None:
    """Time to first token of a lone request grows with its prompt."""
    lone = replace(question, concurrency=1)
    longer = replace(lone, prompt_tokens=lone.prompt_tokens + more)
    assert predict(longer).time_to_first_token.best >= predict(lone).time_to_first_token.best * (1 - 1e-9)


@FEW
@given(QUESTIONS, st.floats(0.01, 100), st.floats(0.001, 1))
def test_capacity_is_inside_the_objectives(question: SpeedQuestion, first: float, gap: float) -> None:
    """At the concurrency that capacity names, both objectives are met; the low figure is the smallest."""
    found = capacity(question, Objectives(time_to_first_token=Seconds(first), inter_token_latency=Seconds(gap)))
    assert 0 <= found.concurrency.low <= found.concurrency.best <= found.concurrency.high
    assert found.requests_per_second.low <= found.requests_per_second.best <= found.requests_per_second.high
    if found.concurrency.best:
        there = predict(replace(question, concurrency=found.concurrency.best))
        assert there.time_to_first_token.best <= first
        assert there.inter_token_latency.best <= gap


@FEW
@given(QUESTIONS, st.floats(1.0, 4.0))
def test_laxer_objectives_never_carry_less(question: SpeedQuestion, factor: float) -> None:
    """A replica carries at least as much when answers may take longer."""
    strict = Objectives(time_to_first_token=Seconds(1), inter_token_latency=Seconds(0.03))
    lax = Objectives(time_to_first_token=Seconds(factor), inter_token_latency=Seconds(0.03 * factor))
    assert capacity(question, lax).concurrency.best >= capacity(question, strict).concurrency.best


@pytest.mark.parametrize("card", gpus(), ids=lambda card: card.key)
def test_every_card_answers(card: Gpu) -> None:
    """No card of the catalog is refused: what is not known widens the band."""
    assert predict(SpeedQuestion(model=models()[0], gpu=card, prompt_tokens=1000, answer_tokens=100)).because


@pytest.mark.parametrize("known", models(), ids=lambda known: known.key)
def test_every_model_answers(known: Model) -> None:
    """No model of the catalog is refused: what is not worked out is left out, and the answer says so."""
    asked = SpeedQuestion(model=known, gpu=gpus()[0], prompt_tokens=1000, answer_tokens=100, kv_pool_bytes=Bytes(GIB))
    assert predict(asked).because
