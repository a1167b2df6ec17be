"""A stage on which charts scale: real autoscalers, a real Prometheus, fake nodes and engines; and one release on it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import yaml

from chartgen import api
from chartgen.render.write import write_folder
from cluster import clusters, controlplane, definitions, keda, kwok
from cluster.api import wait_for
from cluster.controllers import leader_worker_set
from cluster.controlplane import ControlPlane
from cluster.engines import Engines
from cluster.errors import ClusterError
from cluster.install import install_chart, make_namespace
from cluster.prometheus import Prometheus
from cluster.sandbox import Sandbox
from cluster.storage import Provisioner
from cluster.wire import Manifest

PROFILES: Final = Path(__file__).resolve().parent.parent.parent / "profiles"
FASTER: Final = 60
"""A minute of a chart's times takes a second here."""
_COLD_START: Final = 4.0
_PATIENCE: Final = 90.0
"""Seconds for what takes a few on a quiet machine."""
_numbers = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Everything that releases share."""

    plane: ControlPlane
    engines: Engines
    steady: Prometheus
    """Runs all the time."""
    frail: Prometheus
    """Is stopped and started again."""

    def install(
        self, profile: str, *sets: str, prometheus: Prometheus | None = None, options: Sequence[str] = ()
    ) -> Release:
        """Render a ready profile, and install the chart in a namespace of its own, which has an empty queue.

        Args:
            profile: the name of a ready profile.
            sets: changes of the profile, as `chartgen --set` takes them; QUEUE stands for the queue's name.
            prometheus: whom KEDA asks and who follows the chart's monitor; the steady one when left out.
            options: options of `helm install`, besides the values that shorten its times.
        """
        asked = prometheus or self.steady
        namespace = f"scaled-{next(_numbers)}"
        self.engines.queue(namespace, 0)
        folder = self.plane.sandbox.folder / namespace
        named = [one.replace("QUEUE", namespace) for one in sets]
        chart, files = api.render(PROFILES / f"{profile}.yaml", [*named, f"cluster.prometheus={asked.address}"])
        write_folder(files, folder / chart.name)
        planned = yaml.safe_load(files["values.yaml"])
        (folder / "quick.yaml").write_text(yaml.safe_dump(quick(planned)), encoding="utf-8")
        make_namespace(self.plane, namespace)
        for needed in _needed():
            self.plane.api.must(needed, namespace=namespace)
        quicker = ["--values", str(folder / "quick.yaml"), *options]
        answer = install_chart(self.plane, folder / chart.name, namespace=namespace, options=quicker)
        if not answer.accepted or answer.warnings:
            raise ClusterError(answer.output)
        asked.follow(namespace)
        return Release(
            stage=self, name=chart.name, namespace=namespace, prometheus=asked, scaling=planned["autoscaling"]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One installed chart under its autoscaler."""

    stage: Stage
    name: str
    namespace: str
    prometheus: Prometheus
    scaling: Manifest
    """What the chart's values say of autoscaling, with the planned times."""

    @property
    def least(self) -> int:
        """The smallest number of replicas."""
        return int(self.scaling["minReplicas"])

    @property
    def most(self) -> int:
        """The largest number of replicas."""
        return int(self.scaling["maxReplicas"])

    @property
    def spare(self) -> int:
        """The replicas to fall back to."""
        return int(self.scaling["fallback"]["replicas"])

    @property
    def replicas(self) -> int:
        """The replicas that are asked for now: of the Deployment, or the groups of the LeaderWorkerSet."""
        target = self.scaled_object["spec"]["scaleTargetRef"]
        found = self.stage.plane.api.get(target["apiVersion"], target["kind"], target["name"], self.namespace)
        return int((found or {})["spec"]["replicas"])

    @property
    def scaled_object(self) -> Manifest:
        """The ScaledObject as it is now."""
        found = self.stage.plane.api.get(keda.SCALED_OBJECT, "ScaledObject", self.name, self.namespace)
        return found or {}

    @property
    def window(self) -> int:
        """The seconds for which the autoscaler looks back before it takes a replica away."""
        return shorter(self.scaling["behavior"]["scaleDown"]["stabilizationWindowSeconds"])

    @property
    def cooldown(self) -> int:
        """The seconds without work before the last replica goes."""
        return shorter(self.scaling["cooldownPeriod"])

    def load(self, *, running: int = 0, waiting: int = 0) -> None:
        """Have so many requests run and wait from now on, over all replicas."""
        self.stage.engines.send(self.namespace, running=running, waiting=waiting)

    def queue(self, messages: int) -> None:
        """Have so many messages wait outside the engine from now on."""
        self.stage.engines.queue(self.namespace, messages)

    def is_measured(self) -> bool:
        """Whether Prometheus has a series of every replica that is asked for."""
        series = f'vllm:num_requests_running{{namespace="{self.namespace}"}}'
        return self.prometheus.count(series) == self.replicas

    @property
    def failures(self) -> list[int]:
        """How often in a row KEDA could not read each trigger, fewest first; a trigger not asked yet is left out.

        The condition Fallback is no witness: KEDA 2.21 was seen to leave it as it was when all triggers were read.
        """
        health = self.scaled_object.get("status", {}).get("health", {})
        return sorted(int(one["numberOfFailures"]) for one in health.values())

    def until(self, done: Callable[[], object], what: str, seconds: float = _PATIENCE) -> list[int]:
        """Wait for something; returns each number of replicas on the way, in order."""
        seen: list[int] = []

        def watched() -> bool:
            came = bool(done())
            now = self.replicas
            if not seen or now != seen[-1]:
                seen.append(now)
            return came

        try:
            wait_for(watched, f"{self.namespace} ({self.name}): {what}", seconds)
        except ClusterError as error:
            raise ClusterError(f"{error}; replicas {seen}; {self.scaled_object.get('status')}") from error
        return seen

    def reach(self, replicas: int, seconds: float = _PATIENCE) -> list[int]:
        """Wait for a number of replicas; returns each number on the way."""
        return self.until(lambda: self.replicas == replicas, f"{replicas} replicas", seconds)

    def hold(self, seconds: float) -> list[int]:
        """Each number of replicas during some seconds."""
        end = time.monotonic() + seconds
        return self.until(lambda: time.monotonic() > end, "the end of a while")

    def falls_back(self) -> list[int]:
        """Wait until KEDA has failed to read a trigger too often."""
        most = self.scaled_object["spec"]["fallback"]["failureThreshold"]
        return self.until(lambda: max(self.failures, default=0) > most, "the fallback")

    def recovers(self) -> list[int]:
        """Wait until KEDA reads every trigger."""
        return self.until(lambda: set(self.failures) == {0}, "a reading of every trigger")

    def starts(self) -> list[int]:
        """Wait until every replica is measured and KEDA reads every trigger."""
        return self.until(self.is_measured, "the first series") + self.recovers()

    def alarms(self) -> list[int]:
        """Wait until the alert fires that the autoscaler is blind."""
        fires = "ScalingIsBlind"  # its wait starts again whenever a busy machine leaves a scrape out
        return self.until(lambda: fires in self.prometheus.firing(self.namespace), "the alert", 3 * _PATIENCE)

    def calms(self) -> list[int]:
        """Wait until no alert fires."""
        return self.until(lambda: not self.prometheus.firing(self.namespace), "the end of every alert")


@contextmanager
def stage() -> Iterator[Stage]:
    """A control plane with KEDA, LeaderWorkerSet, two Prometheus, engines, and GPU nodes for every release."""
    with Sandbox() as sandbox, ExitStack() as stack:
        plane = controlplane.start(sandbox, controlplane.MINORS[-1], controller_options=[keda.HPA_SYNC])
        definitions.install(plane.api, "prometheus-operator-crds")
        kwok.start(plane, cold_start=_COLD_START, ending=1)
        operator = keda.start(plane)
        stack.enter_context(leader_worker_set(plane))
        stack.enter_context(Provisioner(plane.api))
        clusters.build(plane.api, _plenty())
        engines = stack.enter_context(Engines(plane.api))
        others = {"keda-operator": operator, "rabbitmq": engines.broker_port}
        steady, frail = (Prometheus(plane, name, others) for name in ("prometheus-steady", "prometheus-frail"))
        yield Stage(plane=plane, engines=engines, steady=steady, frail=frail)


def quick(values: Manifest) -> Manifest:
    """Changes of a chart's values by which its autoscaling takes seconds where it takes minutes."""
    scaling = values["autoscaling"]
    return {
        "monitoring": {"interval": "1s", "scrapeTimeout": "1s"},
        "alerts": {name: _quick_alert(rule) for name, rule in values["alerts"].items()},
        "autoscaling": {
            **{key: shorter(scaling[key]) for key in scaling if key.endswith(("Interval", "Period"))},
            "behavior": {direction: _quick_rules(rules) for direction, rules in scaling["behavior"].items()},
        },
    }


def shorter(seconds: int) -> int:
    """So many seconds of a chart's time here; at least one."""
    return max(1, seconds // FASTER)


def _quick_rules(rules: Manifest) -> Manifest:
    window, policies = shorter(rules["stabilizationWindowSeconds"]), rules["policies"]
    quicker = [{**policy, "periodSeconds": shorter(policy["periodSeconds"])} for policy in policies]
    return {"stabilizationWindowSeconds": window, "policies": quicker}


def _quick_alert(rule: Manifest) -> Manifest:
    """The same alert after seconds, on a window that holds some samples also where a scrape or two are late."""
    return {"for": rule["for"].replace("m", "s"), "query": rule["query"].replace("[5m]", "[30s]")}


def _needed() -> Iterator[Manifest]:
    """What the ready profiles expect to be there. KEDA scales nothing whose pods name a Secret that is not."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "20Gi"}}}
    yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "llama-weights"}, "spec": spec}
    for name, key in (("hub-token", "token"), ("chat-api-key", "api-key")):
        yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {key: "x"}}


def _plenty() -> clusters.Cluster:
    """The GPU nodes of three clusters, each many times: no replica ever waits for a place."""
    eks, own, zones = (clusters.load(name) for name in ("eks", "on-prem", "two-zones"))
    nodes = [_many(eks, "h100-{n}", 20), _many(own, "l4-{n}", 5), _many(zones, "a-{n}", 8)]
    return clusters.Cluster(about="Room for every replica", source=[], nodes=nodes, storage=eks.storage)


def _many(cluster: clusters.Cluster, name: str, count: int) -> clusters.Node:
    (node,) = (node for node in cluster.nodes if node.name == name)
    return msgspec.structs.replace(node, count=count)
