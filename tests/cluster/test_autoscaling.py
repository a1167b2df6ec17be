"""Charts under real autoscalers: KEDA asks a real Prometheus, which scrapes what the charts' monitors select.

Each scenario has namespaces of its own, and all run at once: a test waits for the end of one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from cluster.autoscaling import Release, Stage, stage
from cluster.engine_metrics import recorded
from cluster.errors import ClusterError
from cluster.pod_monitor import scrape_configs

pytestmark = pytest.mark.xdist_group("autoscaling")

NEW, OLD = "0.32.0", "0.18.1"
"""The releases whose metrics are recorded."""
BUSY: Final = "traffic.requests_per_second=8"
"""Enough that the least, the fallback and the most differ: 2, 4 and 5 replicas."""
PENDING: Final = 'traffic.pending_query=sum(rabbitmq_queue_messages_ready{queue="QUEUE"})'
SOON: Final = ("--set", "autoscaling.fallback.failureThreshold=3")
"""Fall back after three failures and not only after those of a first start."""
SLACK: Final = 3.0
"""So many seconds the autoscaler's last look at a load may lie before the load's end, as the test sees it."""


def chat(stage: Stage, release: str = NEW, **others: Any) -> Release:
    """The chart of an interactive workload."""
    chart = stage.install("chat-70b", BUSY, f"engine.release={release}", **others)
    assert chart.least < chart.spare < chart.most
    return chart


def batch(stage: Stage, **others: Any) -> Release:
    """The chart of a batch workload that rests at zero."""
    chart = stage.install("batch-8b", PENDING, f"engine.release={NEW}", **others)
    assert (chart.least, chart.most) == (0, 2)
    return chart


def scales_on_the_queue(chart: Release, seconds: float = 90) -> None:
    """The check itself: a queue of the threshold for each of the most replicas brings these, and no more."""
    threshold = chart.scaling["triggers"]["waiting"]["threshold"]
    chart.load(running=100, waiting=threshold * chart.most)
    assert max(chart.reach(chart.most, seconds)) == chart.most
    assert set(chart.hold(3)) == {chart.most}


def follows_the_queue(chart: Release) -> None:
    """A first start at the minimum, the maximum for a queue, then a hold and a way back one by one."""
    assert max(chart.starts()) == chart.least
    assert set(chart.hold(3)) == {chart.least}
    scales_on_the_queue(chart)
    chart.load(running=100)
    begun = time.monotonic()
    chart.until(lambda: chart.replicas < chart.most, "fewer replicas")
    assert time.monotonic() - begun > chart.window - SLACK
    chart.reach(chart.least)
    assert set(chart.hold(3)) == {chart.least}
    chart.calms()


def new_release(stage: Stage) -> None:
    """A chart of a new release follows the queue, and nothing alarms."""
    follows_the_queue(chat(stage))


def old_release(stage: Stage) -> None:
    """A chart of an old release follows the queue."""
    follows_the_queue(chat(stage, OLD))


def groups(stage: Stage) -> None:
    """A chart whose replicas are groups of pods follows the queue of their leaders, by whole groups."""
    chart = stage.install("lws-r1", f"engine.release={NEW}")
    assert chart.scaled_object["spec"]["scaleTargetRef"]["kind"] == "LeaderWorkerSet"
    follows_the_queue(chart)


def series_end(stage: Stage) -> None:
    """Under load no replica goes when the series end, an alert fires, and scaling goes on when they return."""
    chart = chat(stage, options=SOON)
    chart.starts()
    scales_on_the_queue(chart)
    chart.calms()
    stage.engines.silence(chart.namespace, silent=True)
    assert set(chart.falls_back()) == {chart.most}
    assert set(chart.hold(chart.window + 2)) == {chart.most}
    chart.alarms()
    stage.engines.silence(chart.namespace, silent=False)
    chart.load()
    chart.recovers()
    chart.reach(chart.least)


def prometheus_stops(stage: Stage) -> None:
    """At rest the fallback's replicas come when Prometheus stops, also from zero, and go when it is back."""
    both = chat(stage, options=SOON, prometheus=stage.frail), batch(stage, options=SOON, prometheus=stage.frail)
    for chart in both:
        chart.starts()
        chart.reach(chart.least)
    stage.frail.stop()
    for chart in both:
        chart.falls_back()
        assert max(chart.reach(chart.spare)) == chart.spare
        assert set(chart.hold(2)) == {chart.spare}
    stage.frail.start()
    for chart in both:
        chart.recovers()
        chart.reach(chart.least)


def batch_rests(stage: Stage) -> None:
    """Batch work wakes from zero, keeps a replica while one request runs, and rests after its cooldown."""
    chart = batch(stage)
    chart.reach(0)
    assert set(chart.hold(3)) == {0}
    chart.queue(12)
    assert max(chart.reach(chart.most)) == chart.most
    chart.load(running=1)
    chart.queue(0)
    chart.reach(1)
    assert set(chart.hold(chart.cooldown + 3)) == {1}
    chart.load()
    begun = time.monotonic()
    chart.reach(0)
    assert time.monotonic() - begun > chart.cooldown - SLACK
    assert set(chart.failures) == {0}


def wrong_metric(stage: Stage) -> None:
    """A metric name that the release no longer has fails the check, and KEDA and an alert name the trouble."""
    gone = "vllm:gpu_cache_usage_perc"
    assert gone not in recorded(NEW)
    chart = chat(stage, options=[*SOON, "--set", f"autoscaling.triggers.waiting.query=sum({gone}{{SERIES}})"])
    chart.falls_back()
    with pytest.raises(ClusterError, match=f"{chart.most} replicas: not within"):
        scales_on_the_queue(chart, seconds=15)
    good, bad = chart.failures
    assert good == 0 < bad
    chart.alarms()


def second_autoscaler(stage: Stage) -> None:
    """KEDA's webhook refuses a second ScaledObject for a chart's replicas."""
    chart = batch(stage)
    second = {**chart.scaled_object, "metadata": {"name": "second"}}
    verdict = stage.plane.api.create(second, namespace=chart.namespace)
    # Which of the two the webhook meets first is left to chance.
    assert re.search("already managed by the (ScaledObject 'batch-8b'|hpa 'keda-hpa-batch-8b')", verdict.message)


SCENARIOS: Final[dict[str, Callable[[Stage], None]]] = {
    each.__name__: each
    for each in (
        new_release,
        old_release,
        groups,
        series_end,
        prometheus_stops,
        batch_rests,
        wrong_metric,
        second_autoscaler,
    )
}


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[None]]]:
    """Every scenario that is asked for, started."""
    items = (item for item in request.session.items if isinstance(item, pytest.Function))
    names = {str(item.callspec.params["name"]) for item in items if item.function is test_scenario}
    with stage() as shared, ThreadPoolExecutor(len(names)) as pool:

        def run(scenario: Callable[[Stage], None]) -> None:
            try:
                scenario(shared)
            finally:
                shared.plane.api.disconnect()  # this thread's

        yield {name: pool.submit(run, SCENARIOS[name]) for name in sorted(names)}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(running: dict[str, Future[None]], name: str) -> None:
    """What the scenario of that name says comes true."""
    running[name].result()


def test_monitor_is_translated_whole() -> None:
    """A monitor with a field that the translation does not know is refused, and not scraped some other way."""
    endpoint = {"port": "http", "path": "/metrics", "interval": "1s", "scrapeTimeout": "1s", "honorLabels": True}
    monitor = {
        "metadata": {"name": "x", "namespace": "x"},
        "spec": {"selector": {"matchLabels": {}}, "podMetricsEndpoints": [endpoint]},
    }
    with pytest.raises(ClusterError, match="honorLabels"):
        list(scrape_configs(monitor, Path("kubeconfig")))
