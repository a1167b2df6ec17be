"""The engine's pods, their Service and their identity."""

from __future__ import annotations

from collections.abc import Mapping

from chartgen.catalog.assumptions import assumption, house, sentence, whole
from chartgen.chart.components import accepted
from chartgen.chart.guards import engine_guards
from chartgen.chart.types import Component
from chartgen.kernel.decision import Decision, Json, Values, asked, assumed, fact
from chartgen.kernel.labels import is_label_value
from chartgen.plan.types import Plan

_USER = 2000


def component(plan: Plan) -> Component:
    """The Deployment with everything a pod reads."""
    return Component(
        name="engine",
        templates=(
            "_pod.tpl",
            "_engine.tpl",
            "_scheduling.tpl",
            "_weights.tpl",
            "leaderworkerset.yaml" if plan.group else "deployment.yaml",
            "service.yaml",
            "serviceaccount.yaml",
        ),
        values={
            "image": _image(plan),
            "engine": _engine(plan),
            "resources": {"cpu": plan.host.cpus, "memory": plan.host.memory},
            **({"sharedMemory": {"size": plan.host.shared_memory}} if plan.host.shared_memory else {}),
            "placement": _placement(plan),
            "probes": _probes(plan),
            "drain": {"preStopSeconds": plan.drain.pre_stop, "gracePeriodSeconds": plan.drain.grace},
            "service": _service(plan),
            "security": _security(),
            "owner": _owner(plan),
        },
        shape={
            "shared_memory": plan.host.shared_memory is not None,
            "digest": "@" in plan.resolved.image.value,
            "api_key": plan.resolved.profile.access.api_key_secret is not None,
            "claim": plan.placement.claim is not None,
            "counted": plan.layout.counts_differ,
            "group": plan.group is not None,
            "queue": plan.queue is not None,
        },
        guards=tuple(engine_guards(plan)),
        open=("engine.flags", "engine.env"),
    )


def _image(plan: Plan) -> Values:
    image = plan.resolved.image
    name, separator, digest = image.value.partition("@")
    where: dict[str, Decision[Json]] = {}
    if separator:
        repository = name
        where["digest"] = Decision(value=digest, because=image.because, origin=image.origin)
    else:
        repository, _, tag = name.rpartition(":")
        where["tag"] = Decision(value=tag, because=image.because, origin=image.origin)
    return {
        "repository": Decision(value=repository, because=image.because, origin=image.origin),
        **where,
        "pullPolicy": fact("IfNotPresent", "The image is pinned, and pulling 10 GB again would slow every start"),
        "pullSecrets": fact([], "None is named; each entry is a mapping such as {name: registry}"),
    }


def _engine(plan: Plan) -> Values:
    return {
        "model": plan.storage.model,
        "servedModelName": plan.served_name,
        "port": fact(8000, "The port that vLLM listens on; metrics are on it too"),
        "home": fact("/home/vllm", "A writable home: the pod runs as a user that the image does not know"),
        "homeSize": assumed(f"{whole('home-size')}Gi", sentence(assumption("home-size").because)),
        "flags": dict(plan.flags),
        "env": dict(plan.env),
    }


def _placement(plan: Plan) -> Values:
    placement = plan.placement
    together: dict[str, Decision[Json]] = {
        "topologySpread": placement.topology_spread,
        "podAffinity": placement.pod_affinity,
    }
    rollout: dict[str, Decision[Json]] = {
        "strategy": placement.strategy,
        "minReadySeconds": placement.min_ready_seconds,
        "progressDeadlineSeconds": placement.progress_deadline_seconds,
    }
    if plan.group is not None:  # it has its own affinity and its own way to be replaced
        together, rollout = {}, {}
    return {
        "accelerators": placement.accelerators,
        "nodeAffinity": placement.node_affinity,
        "tolerations": placement.tolerations,
        **together,
        "priorityClass": placement.priority_class,
        "runtimeClass": placement.runtime_class,
        "podAnnotations": placement.pod_annotations,
        **rollout,
    }


def _probes(plan: Plan) -> Values:
    return {
        "timeoutSeconds": house("probe-timeout"),
        "startup": {"periodSeconds": plan.start_up.period, "failureThreshold": plan.start_up.failures},
        "liveness": {"periodSeconds": house("probe-period"), "failureThreshold": house("liveness-failures")},
        "readiness": {
            "periodSeconds": house("probe-period"),
            "failureThreshold": house("readiness-failures"),
        },
    }


def _service(plan: Plan) -> Values:
    annotations: Mapping[str, Decision[str]] = plan.route.settings.service_annotations if plan.route else {}
    return {
        "port": fact(80, "The port inside the cluster; pods listen on engine.port"),
        "annotations": merged(annotations, "No gateway in front of it needs any"),
    }


def merged(annotations: Mapping[str, Decision[str]], otherwise: str) -> Decision[Json]:
    """Annotations with a reason each, as one mapping whose reason names them all."""
    if not annotations:
        return fact({}, otherwise)
    reasons = "; ".join(f"{key.rpartition('/')[2]}: {one.because}" for key, one in annotations.items())
    return fact({key: one.value for key, one in annotations.items()}, reasons)


def _security() -> Values:
    return {
        "pod": fact(
            {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "fsGroup": _USER,
                "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "Not root; the group owns the volumes, and large ones are not walked again at every start",
        ),
        "container": fact(
            {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            "Serving needs no capability; GPUs come through the device plugin",
        ),
    }


def _owner(plan: Plan) -> Values:
    owner = plan.resolved.profile.owner
    told = {"team": owner.team, "cost-centre": owner.cost_centre, "on-call": owner.on_call}
    named = {key: value for key, value in told.items() if value is not None}
    labels: dict[str, Json] = {key: value for key, value in named.items() if is_label_value(value)}
    rest: dict[str, Json] = {key: value for key, value in named.items() if key not in labels}
    return {
        "labels": asked(labels, "Who answers for it, as labels") if labels else fact({}, "No owner is named"),
        "annotations": _accepted(plan, rest),
    }


def _accepted(plan: Plan, owner: dict[str, Json]) -> Decision[dict[str, Json]]:
    """Who answers for it, where the text is no label value, and what they accept: the linter reads it there."""
    allowed = accepted.of_workload(plan)
    if allowed:
        return asked({**owner, **allowed}, "What the profile asks for, so that the linter need not tell of it")
    if owner:
        return asked(owner, "Who answers for it, where the text is no label value")
    return fact({}, "Nothing is named that is no label value")
