"""The parts of a plan that are plain arithmetic, by tables and by invariants."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartgen.catalog.clouds import load_cloud
from chartgen.kernel.units import GIB, Bytes, Seconds, Tokens
from chartgen.plan.drain import plan_drain
from chartgen.plan.host import plan_host
from chartgen.plan.placement_types import Workload
from chartgen.plan.replicas import Load, plan_replicas
from chartgen.plan.start_up import plan_start_up
from chartgen.plan.storage import plan_storage
from chartgen.plan.types import StartUp
from chartgen.profile.types import Weights


@pytest.mark.parametrize(
    ("answer", "gap", "can", "expected"),
    [
        (1024, 0.05, True, (15, 60, 90)),  # 51 s of answer: the floor of 60 s
        (4096, 0.05, True, (15, 205, 235)),  # 204.8 s of answer, rounded up
        (32768, 0.05, True, (15, 900, 930)),  # 1638 s: nobody waits longer than the ceiling
        (4096, 0.05, False, (220, 0, 235)),  # before 0.18 the engine cannot drain, so the hook waits for the answers
    ],
)
def test_the_stop_is_sleep_plus_drain_plus_margin(
    answer: int, gap: float, *, can: bool, expected: tuple[int, int, int]
) -> None:
    """The longest answer may end, within floor and ceiling, and the grace period covers all of it."""
    drain = plan_drain(answer=Tokens(answer), gap=Seconds(gap), can_drain=can, release="0.33.0")
    assert (drain.pre_stop.value, drain.drain.value, drain.grace.value) == expected


@pytest.mark.parametrize(
    ("gib", "load", "budget"),
    [(15, 105, 600), (131, 453, 910), (641, 1983, 3970)],
)
def test_the_start_up_budget_follows_the_weights(gib: int, load: int, budget: int) -> None:
    """Three seconds a GiB and a minute for the engine, twice over, and never under ten minutes."""
    start = start_up(gib, "gke")
    assert (start.load.value, start.budget) == (load, budget)


def start_up(gib: int, cloud: str) -> StartUp:
    """The start of a model of so many GiB whose weights come from the hub."""
    weights = Bytes(gib * GIB)
    storage = plan_storage(wanted=Weights(), repository="a/b", weights=weights, cloud=load_cloud(cloud), gated=False)
    return plan_start_up(weights=weights, storage=storage)


def test_a_replica_with_a_volume_of_its_own_downloads_before_it_loads() -> None:
    """Where no volume is shared, one more replica takes the download and the load; else the load alone."""
    shared, alone = start_up(100, "gke"), start_up(100, "on-prem")
    assert (shared.load.value, shared.replica) == (360, 360)
    assert (alone.load.value, alone.replica) == (360, 360 + 410)


@pytest.mark.parametrize(
    ("gpus", "gib", "cpus", "memory", "shared"),
    [
        (1, 15, 6, "24Gi", None),  # a rank takes at least 16 GiB
        (4, 33, 18, "156Gi", "16Gi"),  # four ranks, the server, and /dev/shm inside the limit
        (8, 80, 34, "536Gi", "16Gi"),  # a rank takes at most 64 GiB
    ],
)
def test_a_pod_is_sized_from_its_ranks(gpus: int, gib: int, cpus: int, memory: str, shared: str | None) -> None:
    """CPU and memory grow with the ranks; shared memory counts against the limit."""
    host = plan_host(gpus=gpus, weights_per_gpu=Bytes(gib * GIB), shares_model=gpus > 1)
    got = (host.cpus.value, host.memory.value, host.shared_memory.value if host.shared_memory else None)
    assert got == (cpus, memory, shared)


WORKLOADS: st.SearchStrategy[Workload] = st.sampled_from(["interactive", "batch", "dev"])


def load(rate: float | None, *, workload: Workload = "interactive", wakes: bool = False, served: float = 5) -> Load:
    """A load on replicas that carry 100 requests in flight and five a second."""
    return Load(
        workload=workload,
        wakes=wakes,
        rate=rate,
        in_flight=100,
        served=served,
        ground="as a table says",
        ready_after=Seconds(455),
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (load(None), (2, 2, 4)),  # no traffic: two, and twice that at most
        (load(4), (2, 2, 3)),  # replicas are planned 80 % full: one would do, two stay
        (load(20), (2, 5, 6)),  # four a second on each
        (load(20, served=3), (2, 9, 10)),  # slower replicas, more of them
        (load(20, served=0), (2, 2, 3)),  # nothing is known: the minimum, and one more
        (load(None, workload="batch"), (1, 1, 2)),
        (load(None, workload="batch", wakes=True), (0, 1, 2)),
        (load(None, workload="dev", wakes=True), (1, 1, 2)),
    ],
)
def test_replicas_follow_the_load(asked: Load, expected: tuple[int, int, int]) -> None:
    """Minimum, peak and maximum by Little's law."""
    replicas = plan_replicas(asked)
    assert (replicas.minimum.value, replicas.peak.value, replicas.maximum.value) == expected


@given(one=st.floats(0.1, 500), other=st.floats(0.1, 500), workload=WORKLOADS)
def test_more_traffic_never_needs_fewer_replicas(one: float, other: float, workload: Workload) -> None:
    """Peak and maximum grow with the rate."""
    few, many = (plan_replicas(load(rate, workload=workload)) for rate in sorted((one, other)))
    assert few.peak.value <= many.peak.value
    assert few.maximum.value <= many.maximum.value


@given(rate=st.floats(0.1, 500) | st.none(), workload=WORKLOADS, wakes=st.booleans())
def test_counts_are_in_order_and_windows_outlast_a_start(
    rate: float | None, workload: Workload, *, wakes: bool
) -> None:
    """Minimum, peak and maximum are in order, and nothing goes or falls back before a new one could have come."""
    asked = load(rate, workload=workload, wakes=wakes)
    replicas = plan_replicas(asked)
    assert replicas.minimum.value <= replicas.peak.value <= replicas.maximum.value
    assert replicas.cooldown.value >= max(600, asked.ready_after)
    down: Any = replicas.behavior.value["scaleDown"]
    assert down["stabilizationWindowSeconds"] >= asked.ready_after
    failures: Any = replicas.fallback.value["failureThreshold"]
    assert failures * replicas.polling.value > asked.ready_after
