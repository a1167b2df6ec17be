"""Rules between the fields of objects that own no pods.

Source: k8s.io/kubernetes v1.37.2, pkg/apis/<group>/validation/validation.go of each kind's group; for custom
resources the rules of their definitions that JSON Schema cannot say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chartgen.kernel.quantity import duration
from chartgen.validate.fault import Fault, Node, exactly_one

_METRIC_FIELDS: Final = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_KEDA_MOST: Final = 100
"""KEDA's default of maxReplicaCount (kedacore/keda v2.21.0 config/crd/bases)."""
_SCALES_TO_ZERO: Final = 37
"""The minor from which the gate HPAScaleToZero is on by default (pkg/features/kube_features.go)."""


def service(content: Node, minor: int) -> Iterator[Fault]:
    """ValidateService: several ports have names of their own; ExternalName says which."""
    del minor
    spec = content["spec"]
    ports = list(spec["ports"].entries())
    seen: set[str] = set()
    for port in ports:
        name = port["name"].text()
        if name is None and len(ports) > 1 and isinstance(port.value, dict):
            message = "each of several ports needs a name"
            yield port.fault("missing", message, found="nothing", expected="name")
        elif name in seen:
            message = f"port name {name} stands here a second time"
            yield port["name"].fault("duplicate", message, found=str(name), expected="a name of its own")
        elif name:
            seen.add(name)
    kind = spec["type"].text() or "ClusterIP"
    external = kind == "ExternalName"
    if external and not spec["externalName"].text():
        yield spec.fault("missing", "a Service of type ExternalName needs one", expected="externalName")
    if not external and not ports and spec["clusterIP"].value != "None":
        yield spec.fault("missing", "the Service has no port", found="nothing", expected="ports")
    for port in ports:
        if kind == "ClusterIP" and port["nodePort"].number(0):
            message = "a nodePort goes with the types NodePort and LoadBalancer only"
            yield port["nodePort"].fault("value", message, found=str(port["nodePort"].value), expected="no nodePort")


def cluster_role_binding(content: Node, minor: int) -> Iterator[Fault]:
    """ValidateRoleBindingSubject: a service account is somewhere, and a ClusterRoleBinding is not."""
    del minor
    for subject in content["subjects"].entries():
        if subject["kind"].text() == "ServiceAccount" and not subject["namespace"].text():
            message = "a ServiceAccount needs its namespace here"
            yield subject.fault("missing", message, found="nothing", expected="namespace")


def claim(content: Node, minor: int) -> Iterator[Fault]:
    """ValidatePersistentVolumeClaimSpec: it says how it is mounted and how large it is."""
    del minor
    spec = content["spec"]
    if "accessModes" not in spec:
        yield spec.fault("missing", "the claim has no access mode", found="nothing", expected="accessModes")
    if "storage" not in spec.at("resources", "requests"):
        message = "the claim asks for no amount of storage"
        yield spec.fault("missing", message, found="nothing", expected="resources.requests.storage")


def budget(content: Node, minor: int) -> Iterator[Fault]:
    """ValidatePodDisruptionBudgetSpec."""
    del minor
    spec = content["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        message = "minAvailable and maxUnavailable exclude each other"
        yield spec.fault("value", message, found="both", expected="one of them")


def autoscaler(content: Node, minor: int) -> Iterator[Fault]:
    """ValidateHorizontalPodAutoscaler."""
    spec = content["spec"]
    least, most = spec["minReplicas"].number(1), spec["maxReplicas"].number()
    kinds = set()
    for metric in spec["metrics"].entries():
        kind = metric["type"].text() or ""
        kinds.add(kind)
        field = _METRIC_FIELDS.get(kind)
        if field and field not in metric:
            message = f"a metric of type {kind} is described in {field}"
            yield metric.fault("missing", message, found="nothing", expected=field)
    if least is not None and most is not None and least > most:
        message = f"minReplicas {least} is more than maxReplicas {most}"
        yield spec["minReplicas"].fault("value", message, found=str(least), expected=f"at most {most}")
    if least == 0 and minor < _SCALES_TO_ZERO:
        message = f"minReplicas 0 needs Kubernetes 1.{_SCALES_TO_ZERO} (or the feature gate HPAScaleToZero)"
        yield spec["minReplicas"].fault("value", message, found="0", expected="at least 1")
    elif least == 0 and not kinds & {"Object", "External"}:
        message = "minReplicas 0 needs a metric of type Object or External: no pod is left to measure"
        yield spec["minReplicas"].fault("value", message, found="0", expected="an Object or External metric")


def ingress(content: Node, minor: int) -> Iterator[Fault]:
    """ValidateIngressSpec: it leads somewhere, and each backend is one thing."""
    del minor
    spec = content["spec"]
    if isinstance(spec.value, dict) and "rules" not in spec and "defaultBackend" not in spec:
        yield spec.fault("missing", "the Ingress leads nowhere", found="nothing", expected="rules")
    backends = [spec["defaultBackend"]] if "defaultBackend" in spec else []
    for rule in spec["rules"].entries():
        backends += [path["backend"] for path in rule.at("http", "paths").entries()]
    for backend in backends:
        if isinstance(backend.value, dict):
            yield from exactly_one(backend, ("service", "resource"), "the backend")
            if "service" in backend:
                yield from exactly_one(backend.at("service", "port"), ("name", "number"), "the port")


def resource_claim(content: Node, minor: int) -> Iterator[Fault]:
    """A ResourceClaim."""
    del minor
    yield from _requests(content["spec"], content)


def resource_claim_template(content: Node, minor: int) -> Iterator[Fault]:
    """A ResourceClaimTemplate."""
    del minor
    yield from _requests(content.at("spec", "spec"), content)


def _requests(spec: Node, content: Node) -> Iterator[Fault]:
    """A request is for exactly one kind of device or for the first of several that is to be had."""
    names: set[str] = set()
    for request in spec.at("devices", "requests").entries():
        name = request["name"].text()
        if name and name in names:
            message = f"request {name} stands here a second time"
            yield request["name"].fault("duplicate", message, found=name, expected="a name of its own")
        names.add(name or "")
        if content["apiVersion"].text() in {"resource.k8s.io/v1", "resource.k8s.io/v1beta2"}:
            yield from exactly_one(request, ("exactly", "firstAvailable"), "the device asked for")
            every = request["exactly"]
            if every["allocationMode"].text() == "All" and "count" in every:
                message = "allocationMode All takes no count"
                yield every["count"].fault("value", message, found=str(every["count"].value), expected="no count")
    for constraint in spec.at("devices", "constraints").entries():
        for asked in constraint["requests"].entries():
            name = asked.text()
            if name and name.partition("/")[0] not in names:
                message = f"the claim has no request {name!r}"
                yield asked.fault("reference", message, found=name, expected="the name of a request")


def scaled_object(content: Node, minor: int) -> Iterator[Fault]:
    """The rule of KEDA's own definition: at least is not more than at most, which is 100 when it is not said."""
    del minor
    spec = content["spec"]
    least, most = spec["minReplicaCount"].number(), spec["maxReplicaCount"].number(_KEDA_MOST)
    if least is not None and most is not None and least > most:
        message = f"minReplicaCount {least} is more than maxReplicaCount {most}"
        yield spec["minReplicaCount"].fault("value", message, found=str(least), expected=f"at most {most}")


def http_route(content: Node, minor: int) -> Iterator[Fault]:
    """The rule of Gateway API's own definition: an attempt ends no later than its request; 0s never ends."""
    del minor
    for rule in content.at("spec", "rules").entries():
        whole, attempt = (rule.at("timeouts", name) for name in ("request", "backendRequest"))
        longest, asked = duration(whole.value), duration(attempt.value)
        if longest and asked is not None and asked > longest:
            message = f"backendRequest {attempt.value} is longer than request {whole.value}"
            yield attempt.fault("value", message, found=str(attempt.value), expected=f"at most {whole.value}")
