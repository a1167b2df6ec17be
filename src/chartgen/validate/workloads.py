"""Rules between the fields of pods' owners, and where each kind keeps its pods.

Source: k8s.io/kubernetes v1.37.2, pkg/apis/{apps,batch,core}/validation/validation.go; for custom resources their
own definitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from chartgen.validate.fault import Fault, Node
from chartgen.validate.pods import pod_faults


def pod(content: Node, minor: int) -> Iterator[Fault]:
    """A Pod."""
    del minor
    yield from pod_faults(content["spec"])


def pod_template(content: Node, minor: int) -> Iterator[Fault]:
    """A PodTemplate."""
    del minor
    yield from pod_faults(content.at("template", "spec"))


def workload(content: Node, minor: int) -> Iterator[Fault]:
    """A Deployment, ReplicaSet or DaemonSet: its pods, and the selector that finds them."""
    del minor
    yield from _selector(content)
    yield from pod_faults(content.at("spec", "template", "spec"))


def stateful_set(content: Node, minor: int) -> Iterator[Fault]:
    """A StatefulSet: its pods may also mount what its claim templates make."""
    del minor
    templates = content.at("spec", "volumeClaimTemplates").entries()
    names = (template.at("metadata", "name").text() for template in templates)
    yield from _selector(content)
    yield from pod_faults(content.at("spec", "template", "spec"), tuple(name for name in names if name))


def _selector(content: Node) -> Iterator[Fault]:
    """A selector is not empty and finds the pods of its own template."""
    selector = content.at("spec", "selector")
    labels = content.at("spec", "template", "metadata", "labels")
    if isinstance(selector.value, dict) and not any(selector[key].value for key in ("matchLabels", "matchExpressions")):
        message = "an empty selector would take every pod"
        yield selector.fault("missing", message, found="nothing", expected="matchLabels")
    for key, wanted in selector["matchLabels"].fields():
        if labels[key].value != wanted.value:
            message = f"the pods' label {key} is {labels[key].value!r}: the selector does not find its own pods"
            yield wanted.fault("reference", message, found=str(wanted.value), expected=str(labels[key].value))


def always_restarts(content: Node, minor: int) -> Iterator[Fault]:
    """Pods that are kept running restart always."""
    del minor
    policy = content.at("spec", "template", "spec", "restartPolicy")
    if policy.text() not in {None, "Always"}:
        message = f"pods of a {content['kind'].value} take restartPolicy Always only"
        yield policy.fault("value", message, found=str(policy.value), expected="Always")


def deployment_strategy(content: Node, minor: int) -> Iterator[Fault]:
    """Recreate has no rolling update; a rolling update may surge, or do without a pod, or both."""
    del minor
    strategy = content.at("spec", "strategy")
    rolling = strategy["rollingUpdate"]
    if strategy["type"].text() == "Recreate" and rolling.value is not None:
        message = "the strategy Recreate takes no rollingUpdate"
        yield rolling.fault("value", message, found="rollingUpdate", expected="no such field")
    elif _is_zero(rolling["maxSurge"]) and _is_zero(rolling["maxUnavailable"]):
        message = "maxSurge 0 and maxUnavailable 0 allow no step at all"
        yield rolling.fault("value", message, found="0 and 0", expected="one of them more than 0")


def _is_zero(count: Node) -> bool:
    return count.value in (0, "0%") and not isinstance(count.value, bool)


def job(content: Node, minor: int) -> Iterator[Fault]:
    """A Job."""
    del minor
    yield from _job_spec(content["spec"])


def cron_job(content: Node, minor: int) -> Iterator[Fault]:
    """A CronJob."""
    del minor
    yield from _job_spec(content.at("spec", "jobTemplate", "spec"))


def job_set(content: Node, minor: int) -> Iterator[Fault]:
    """A JobSet."""
    del minor
    for group in content.at("spec", "replicatedJobs").entries():
        yield from _job_spec(group.at("template", "spec"))


def _job_spec(spec: Node) -> Iterator[Fault]:
    """A Job ends, so its pods do not restart always: and that is the default they would have."""
    pod_spec = spec.at("template", "spec")
    policy = pod_spec["restartPolicy"]
    if isinstance(pod_spec.value, dict) and policy.value in (None, "", "Always"):
        message = "pods of a Job take restartPolicy OnFailure or Never"
        yield policy.fault("value", message, found=str(policy.value or "nothing"), expected="OnFailure or Never")
    yield from pod_faults(pod_spec)


def leader_worker_set(content: Node, minor: int) -> Iterator[Fault]:
    """A LeaderWorkerSet."""
    del minor
    group = content.at("spec", "leaderWorkerTemplate")
    templates = group["volumeClaimTemplates"].entries()
    names = tuple(name for name in (template.at("metadata", "name").text() for template in templates) if name)
    for template in ("leaderTemplate", "workerTemplate"):
        yield from pod_faults(group.at(template, "spec"), names)


def ray_cluster(content: Node, minor: int) -> Iterator[Fault]:
    """A RayCluster."""
    del minor
    yield from _ray(content["spec"])


def ray_service(content: Node, minor: int) -> Iterator[Fault]:
    """A RayService."""
    del minor
    yield from _ray(content.at("spec", "rayClusterConfig"))


def _ray(spec: Node) -> Iterator[Fault]:
    yield from pod_faults(spec.at("headGroupSpec", "template", "spec"))
    for group in spec["workerGroupSpecs"].entries():
        yield from pod_faults(group.at("template", "spec"))
