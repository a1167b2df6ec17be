"""The pool is organised as the engine's own planner does it: vectors from running vLLM 0.33.0's planner."""

from __future__ import annotations

import pytest

from chartgen.catalog.gpus import gpu
from chartgen.catalog.models import model
from chartgen.kernel.units import GIB
from chartgen.memory.cache_layers import CacheLayers, Reach, with_aligned_states
from chartgen.memory.deployment import Deployment
from chartgen.memory.fit import estimate
from chartgen.memory.kv_cache import Pool, pool

AVAILABLE = 20 * GIB
LENGTH = 32768
IN_FLIGHT = 16384


def attention(reach: Reach, layers: int, token_bytes: float, *, block: int = 16, span: int = 0) -> CacheLayers:
    return CacheLayers(reach=reach, layers=layers, token_bytes=token_bytes, block=block, span=span)


def state(layers: int, state_bytes: int) -> CacheLayers:
    return CacheLayers(reach="state", layers=layers, token_bytes=0, block=16, state_bytes=state_bytes)


def planned(layers: list[CacheLayers], *, states: int = 1) -> Pool:
    return pool(with_aligned_states(layers, 16), in_flight=IN_FLIGHT, states=states, widening=1.5)


DENSE = [attention("full", 28, 2 * 8 * 128 * 2)]
DENSE_FP8 = [attention("full", 28, 2 * 8 * 128)]
GPT_OSS = [attention("full", 12, 2 * 8 * 64 * 2), attention("window", 12, 2 * 8 * 64 * 2, span=128)]
GEMMA_3 = [attention("full", 10, 2 * 16 * 128 * 2), attention("window", 52, 2 * 16 * 128 * 2, span=1024)]
MLA = [attention("full", 61, 576 * 2, block=64)]
SPARSE_MLA = [attention("full", 61, 656, block=64), attention("full", 61, 132, block=64)]
DELTA_NET = [state(36, 1097728), attention("full", 12, 2 * 2 * 256 * 2)]


@pytest.mark.parametrize(
    ("layers", "states", "bytes_per_block", "blocks", "concurrency", "tokens"),
    [
        pytest.param(DENSE, 1, 1835008, 11702, 5.7139, 187232, id="28 dense layers"),
        pytest.param(DENSE_FP8, 1, 917504, 23405, 11.4282, 374480, id="the same with fp8 cache"),
        pytest.param(GPT_OSS, 1, 393216, 54613, 17.7257, 580836, id="gpt-oss-20b: 12 full, 12 window"),
        pytest.param(GEMMA_3, 1, 1310720, 16384, 1.9091, 62557, id="Gemma 3 27B: 10 full, 52 window"),
        pytest.param(MLA, 1, 4497408, 4774, 9.3242, 305536, id="DeepSeek V3: 61 latent"),
        pytest.param(SPARSE_MLA, 1, 3076352, 6980, 13.6328, 446720, id="DeepSeek V3.2: latent and indexer"),
        pytest.param(DELTA_NET, 1, 13369344, 1606, 25.0938, 822272, id="36 delta-net, 12 full"),
        pytest.param(DELTA_NET, 2, 13369344, 1606, 23.9701, 785453, id="the same with prefix caching"),
    ],
)
def test_the_pool_is_the_planners(
    layers: list[CacheLayers],
    states: int,
    bytes_per_block: int,
    blocks: int,
    concurrency: float,
    tokens: int,
) -> None:
    """Bytes of a block, blocks, concurrency and tokens are exactly those of the engine's planner."""
    found = planned(layers, states=states)
    assert found.bytes_per_block == bytes_per_block
    assert found.blocks(AVAILABLE) == blocks
    assert round(found.concurrency(AVAILABLE, LENGTH), 4) == concurrency
    assert int(found.concurrency(AVAILABLE, LENGTH) * LENGTH) == tokens


def test_groups_of_gemma_3() -> None:
    """52 window layers are cut into six groups of ten, the last one padded."""
    found = planned(GEMMA_3)
    assert [(group.layers.reach, group.groups) for group in found.groups] == [("full", 1), ("window", 6)]


def test_attention_blocks_hold_a_state() -> None:
    """Attention blocks grow to 544 tokens so that one page holds a delta-net state."""
    found = planned(DELTA_NET)
    (attention_group,) = (group for group in found.groups if group.layers.reach == "full")
    assert attention_group.layers.block == 544
    assert sum(group.groups for group in found.groups) == 4


def test_the_longest_request_is_the_last_that_fits() -> None:
    """`longest` is the last length for which the engine's start-up check passes."""
    found = planned(GEMMA_3)
    longest = found.longest(2 * GIB, LENGTH)
    assert found.fits(2 * GIB, longest)
    assert not found.fits(2 * GIB, longest + 1)


def test_compressed_attention_needs_what_the_engine_says() -> None:
    """DeepSeek V4 Pro at 1M tokens needs the 23.32 GiB that vLLM names when it refuses (vLLM issue 53961)."""
    fit = estimate(
        Deployment(
            model=model("deepseek-ai/DeepSeek-V4-Pro"),
            gpu=gpu("MI300X"),
            release="0.28.0",
            tensor_parallel=8,
            max_model_len=1048576,
            max_num_batched_tokens=16384,
        )
    )
    assert round(fit.kv_bytes_per_request(1048576) / GIB, 2) == 23.32
