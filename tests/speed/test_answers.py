"""What the speed model answers: bands, cliffs, capacity, words, and a measurement that wins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import model
from chartgen.kernel.units import GIB, Bytes, Seconds
from chartgen.memory.fit import Deployment, estimate
from chartgen.speed import Band, Measurement, Objectives, SpeedQuestion, capacity, predict, question_of
from chartgen.speed.efficiencies import speed_facts

QUESTION = SpeedQuestion(
    model=model("meta-llama/Llama-3.1-70B-Instruct"),
    gpu=gpu("H100"),
    scheme="fp8",
    tensor_parallel=2,
    prompt_tokens=3000,
    answer_tokens=500,
    concurrency=16,
)
POOL = Bytes(20 * GIB)


def spread(band: Band[Seconds]) -> float:
    """How many times the high end is the low one."""
    return band.high / band.low


def exactly(value: Seconds) -> Band[Seconds]:
    """A band without a margin."""
    return Band(low=value, best=value, high=value)


def test_requests_beyond_the_pool_wait_for_others_to_finish() -> None:
    """At twice the cliff, the first token waits for about one life of a request, and throughput stays."""
    pooled = replace(QUESTION, kv_pool_bytes=POOL)
    cliff = predict(pooled).cliff_concurrency
    assert cliff == pytest.approx(20 * GIB / (3250 * 80 * 4 * 128 * 2 * 2), rel=0.01)
    assert cliff is not None
    at, beyond = (predict(replace(pooled, concurrency=count * cliff)) for count in (1, 2))
    assert not at.queueing
    assert beyond.queueing
    assert beyond.requests_per_second.best == pytest.approx(at.requests_per_second.best)
    life = at.time_to_first_token.best + 500 * at.inter_token_latency.best
    assert beyond.time_to_first_token.best == pytest.approx(at.time_to_first_token.best + life, rel=0.01)
    assert "the KV cache pool holds" in beyond.because


def test_no_cliff_is_foreseen_without_a_pool() -> None:
    """A question that does not say the pool gets no cliff."""
    assert predict(QUESTION).cliff_concurrency is None


def test_more_requests_than_a_batch_holds_queue_too() -> None:
    """`--max-num-seqs` bounds what runs as the pool does."""
    found = predict(replace(QUESTION, max_num_seqs=8))
    assert found.queueing
    assert "8 wait: a batch holds 8 sequences" in found.because


def test_an_untried_card_gets_a_wider_band_that_says_so() -> None:
    """Efficiencies of other cards are carried over with a wider margin and a reason."""
    known, carried = predict(QUESTION), predict(replace(QUESTION, gpu=gpu("MI300X")))
    assert known.stands_on == "fitted"
    assert carried.stands_on == "assumed"
    assert spread(carried.inter_token_latency) > spread(known.inter_token_latency)
    assert "fp8 products on cdna3 cards" in carried.because
    assert "over xgmi" in carried.because


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"release": "0.8.5"}, "vLLM 0.8.5 is older"),
        ({"pipeline_parallel": 2}, "pipeline parallel"),
        ({"scheme": "awq", "gpu": gpu("L40S")}, "weight-only products on ada"),
        ({"gpu": gpu("A100-SXM4-80GB"), "scheme": "none", "tensor_parallel": 4}, "16-bit products on ampere"),
        ({"gpu": gpu("H100"), "mig": "3g.40gb", "tensor_parallel": 1}, "slice"),
    ],
)
def test_what_no_run_of_the_fit_had_is_named(change: dict[str, object], word: str) -> None:
    """Each ground that is missing is said in words."""
    found = predict(replace(QUESTION, **change))  # type: ignore[arg-type]  # one field each, of its own type
    assert found.stands_on == "assumed"
    assert word in found.because


def test_a_slice_has_its_share_of_the_card() -> None:
    """A 3g.40gb slice of an H100 decodes at about half of the card's pace, and reads prompts at three sevenths."""
    small = replace(QUESTION, model=model("meta-llama/Llama-3.1-8B-Instruct"), tensor_parallel=1, concurrency=1)
    whole, part = predict(small), predict(replace(small, mig="3g.40gb"))
    assert part.inter_token_latency.best == pytest.approx(1.7 * whole.inter_token_latency.best, rel=0.2)
    assert part.time_to_first_token.best > 1.7 * whole.time_to_first_token.best


def test_a_measurement_wins() -> None:
    """Measured latencies stand as given, without a margin, and throughput follows from them."""
    measured = Measurement(time_to_first_token=Seconds(1), inter_token_latency=Seconds(0.018))
    found = predict(QUESTION, measured)
    assert found.time_to_first_token == exactly(Seconds(1))
    assert found.inter_token_latency == exactly(Seconds(0.018))
    assert found.requests_per_second.best == pytest.approx(16 / (1 + 500 * 0.018))
    assert found.stands_on == "measured"


def test_half_a_measurement_leaves_the_rest_an_estimate() -> None:
    """Where only one latency was measured, the other one keeps its band and its ground."""
    found = predict(QUESTION, Measurement(time_to_first_token=Seconds(1)))
    assert found.time_to_first_token == exactly(Seconds(1))
    assert found.inter_token_latency == predict(QUESTION).inter_token_latency
    assert found.stands_on == "fitted"


def test_a_measured_rate_is_the_capacity() -> None:
    """The user's requests a second replace the estimate, which is still named."""
    found = capacity(QUESTION, Objectives(), Measurement(requests_per_second=2.5))
    assert found.requests_per_second == Band(low=2.5, best=2.5, high=2.5)
    assert found.binds == "measurement"
    assert "2.5 requests a second were measured" in found.because


def test_the_binding_objective_is_named() -> None:
    """Capacity says which objective the next request would miss, and by what."""
    found = capacity(QUESTION, Objectives(inter_token_latency=Seconds(0.03)))
    assert found.binds == "inter-token latency"
    assert "over 30 ms" in found.because
    best = found.concurrency.best
    assert predict(replace(QUESTION, concurrency=best)).inter_token_latency.best <= 0.03
    assert predict(replace(QUESTION, concurrency=best + 1)).inter_token_latency.best > 0.03


def test_objectives_that_not_even_one_request_meets_give_nothing() -> None:
    """A prompt that takes longer alone than the objective allows leaves no capacity, and says so."""
    found = capacity(QUESTION, Objectives(time_to_first_token=Seconds(0.1)))
    assert found.concurrency == Band(low=0, best=0, high=0)
    assert found.requests_per_second == Band(low=0, best=0, high=0)
    assert found.because.startswith("with 1 in flight time to first token is")


def test_without_objectives_the_pool_binds() -> None:
    """What runs at once is all that bounds a replica then."""
    found = capacity(replace(QUESTION, kv_pool_bytes=POOL), Objectives())
    assert found.binds == "KV cache pool"
    assert found.concurrency.low < found.concurrency.best < found.concurrency.high


def test_a_pool_too_small_for_one_request_carries_nothing() -> None:
    """A replica whose cache does not hold one request has no capacity."""
    assert capacity(replace(QUESTION, kv_pool_bytes=Bytes(1)), Objectives()).concurrency.high == 0


def test_a_deployment_becomes_a_question_with_its_pool() -> None:
    """Flags and pool of a memory answer carry over, so that the cliff is that of the plan."""
    fit = estimate(
        Deployment(model=QUESTION.model, gpu=QUESTION.gpu, release="0.33.0", quantization="fp8", tensor_parallel=2)
    )
    asked = question_of(fit, prompt_tokens=3000, answer_tokens=500, concurrency=4)
    assert asked.kv_pool_bytes == int(fit.deciding_rank.kv_cache.best)
    assert asked.max_num_seqs == fit.limits.max_num_seqs.value
    cliff = predict(asked).cliff_concurrency
    assert cliff is not None
    assert cliff == pytest.approx(fit.kv_cache_tokens / 3250, rel=0.02)


@pytest.mark.parametrize("name", ["prompt_tokens", "answer_tokens", "concurrency", "tensor_parallel"])
def test_a_count_below_one_is_refused(name: str) -> None:
    """Nothing runs with none of these, and the message names the field."""
    with pytest.raises(ValueError, match=f"{name} is 0, at least 1 would do"):
        predict(replace(QUESTION, **{name: 0}))  # type: ignore[arg-type]


def test_every_efficiency_has_a_unit_and_a_reason() -> None:
    """No number stands in the data without saying what it is."""
    for name, entry in speed_facts().efficiencies.items():
        assert entry.unit, name
        assert entry.because, name
        assert entry.value > 0, name
        assert entry.spread >= 1, name
