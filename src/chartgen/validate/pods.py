"""What the API server refuses in a pod although each field alone is well formed.

Source of every check: k8s.io/kubernetes v1.37.2, pkg/apis/core/validation/validation.go; the functions are named
beside the checks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from chartgen.kernel.labels import is_key, is_label_value
from chartgen.kernel.structure import shown
from chartgen.validate.fault import Fault, Node, exactly_one
from chartgen.validate.resources import resource_faults

_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOKS: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_ENV_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_KEY: Final = "up to 63 letters, digits, dashes, dots or underscores, perhaps after a domain and a slash"
_VALUE: Final = "up to 63 letters, digits, dashes, dots or underscores"
_DEFAULT_GRACE: Final = 30
"""Seconds: core/v1 DefaultTerminationGracePeriodSeconds."""


def pod_faults(spec: Node, extra_volumes: tuple[str, ...] = ()) -> Iterator[Fault]:
    """Every fault of a pod's spec.

    Args:
        spec: the pod spec.
        extra_volumes: names of volumes that a StatefulSet adds by its claim templates.
    """
    volumes = {volume["name"].text() for volume in spec["volumes"].entries()} | set(extra_volumes)
    claims = {claim["name"].text() for claim in spec["resourceClaims"].entries()}
    grace = spec["terminationGracePeriodSeconds"].number(_DEFAULT_GRACE)
    for volume in spec["volumes"].entries():
        yield from _volume(volume)
    for claim in spec["resourceClaims"].entries():
        names = ("resourceClaimName", "resourceClaimTemplateName")
        yield from exactly_one(claim, names, "the source of the claim")
    for toleration in spec["tolerations"].entries():
        yield from _toleration(toleration)
    yield from _node_affinity(spec.at("affinity", "nodeAffinity"))
    yield from _container_names(spec)
    for container in itertools.chain.from_iterable(spec[kind].entries() for kind in _CONTAINERS):
        if isinstance(container.value, dict):
            yield from _container(container, volumes, claims, grace)


def _container_names(spec: Node) -> Iterator[Fault]:
    """Two containers of one pod never share a name: also not across the lists (validateContainers)."""
    first: dict[str, Node] = {}
    for kind in _CONTAINERS:
        for container in spec[kind].entries():
            name = container["name"].text()
            if name and name in first and first[name].path[:-1] != container.path[:-1]:
                message = f"container {name} stands in {first[name].path[-2]} too"
                yield container["name"].fault("duplicate", message, found=name, expected="a name of its own")
            elif name:
                first[name] = container


def _volume(volume: Node) -> Iterator[Fault]:
    """At most one source for each volume (validateVolumeSource); without one it is an emptyDir."""
    sources = [key for key, _ in volume.fields() if key != "name" and key in volume]
    if len(sources) > 1:
        message = f"{' and '.join(sources)} exclude each other: a volume has one source"
        yield volume.fault("value", message, found=", ".join(sources), expected="one of them")


def _node_affinity(affinity: Node) -> Iterator[Fault]:
    """A node carries no label that is none (ValidateNodeSelectorRequirement)."""
    terms = [*affinity.at("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").entries()]
    preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"].entries()
    for term in (*terms, *(one["preference"] for one in preferred)):
        for expression in term["matchExpressions"].entries():
            key = expression["key"]
            if key.text() and not is_key(str(key.value)):
                yield key.fault("value", f"{shown(key.value)} is no label's key", found=shown(key.value), expected=_KEY)
            for value in expression["values"].entries():
                if value.text() and not is_label_value(str(value.value)):
                    message = f"{shown(value.value)} is no label's value"
                    yield value.fault("value", message, found=shown(value.value), expected=_VALUE)


def _toleration(toleration: Node) -> Iterator[Fault]:
    """ValidateTolerations."""
    operator = toleration["operator"].text() or "Equal"
    if operator != "Exists" and not toleration["key"].text() and isinstance(toleration.value, dict):
        message = "a toleration without a key must have the operator Exists: it tolerates every taint"
        yield toleration.fault("value", message, found=operator, expected="a key, or the operator Exists")
    if operator == "Exists" and toleration["value"].text():
        message = "the operator Exists takes no value"
        yield toleration["value"].fault("value", message, found=str(toleration["value"].value), expected="no value")
    if "tolerationSeconds" in toleration and toleration["effect"].text() != "NoExecute":
        message = "tolerationSeconds goes with the effect NoExecute only"
        yield toleration["tolerationSeconds"].fault("value", message, expected="effect NoExecute")


def _container(
    container: Node, volumes: set[str | None], claims: set[str | None], grace: int | None
) -> Iterator[Fault]:
    if container["image"].value in (None, ""):
        yield container.fault("missing", "the container has no image", found="nothing", expected="image")
    for mount in container["volumeMounts"].entries():
        name = mount["name"].text()
        if name and name not in volumes:
            message = f"the pod has no volume {name!r}"
            yield mount["name"].fault("reference", message, found=name, expected="the name of a volume")
    for claim in container.at("resources", "claims").entries():
        name = claim["name"].text()
        if name and name not in claims:
            message = f"the pod has no resourceClaim {name!r}"
            yield claim["name"].fault("reference", message, found=name, expected="the name of a resourceClaim")
    yield from _ports(container)
    yield from _environment(container)
    yield from _privilege(container["securityContext"])
    yield from resource_faults(container["resources"])
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        if kind in container:
            yield from _probe(container[kind], kind)
    for hook in ("postStart", "preStop"):
        handler = container.at("lifecycle", hook)
        if handler.value is not None:
            yield from exactly_one(handler, _HOOKS, "the handler")
            yield from _sleep(handler.at("sleep", "seconds"), grace)


def _ports(container: Node) -> Iterator[Fault]:
    """The names of a container's ports differ (validateContainerPorts)."""
    seen: set[str] = set()
    for port in container["ports"].entries():
        name = port["name"].text()
        if name in seen:
            message = f"port name {name} stands here a second time"
            yield port["name"].fault("duplicate", message, found=str(name), expected="a name of its own")
        elif name:
            seen.add(name)


def _privilege(context: Node) -> Iterator[Fault]:
    """A container that may not gain privileges has none (ValidateSecurityContext)."""
    if context["allowPrivilegeEscalation"].value is not False:
        return
    if context["privileged"].value is True:
        message = "privileged and allowPrivilegeEscalation false exclude each other"
        yield context["privileged"].fault("value", message, found="true", expected="false")
    for capability in context.at("capabilities", "add").entries():
        if capability.text() == "CAP_SYS_ADMIN":
            message = "CAP_SYS_ADMIN and allowPrivilegeEscalation false exclude each other"
            yield capability.fault("value", message, found="CAP_SYS_ADMIN", expected="another capability")


def _environment(container: Node) -> Iterator[Fault]:
    """A variable has a value or one source (validateEnvVarValueFrom)."""
    for variable in container["env"].entries():
        source = variable["valueFrom"]
        if source.value is None:
            continue
        yield from exactly_one(source, _ENV_SOURCES, "the source of the value")
        if variable["value"].text():
            message = "value and valueFrom exclude each other"
            yield variable.fault("value", message, found="both", expected="one of them")


def _probe(probe: Node, kind: str) -> Iterator[Fault]:
    """validateLivenessProbe, validateReadinessProbe, validateStartupProbe."""
    yield from exactly_one(probe, _HANDLERS, "the handler")
    threshold = probe["successThreshold"]
    if kind != "readinessProbe" and threshold.number(1) not in {0, 1, None}:
        message = f"a {kind} takes successThreshold 1 only"
        yield threshold.fault("value", message, found=str(threshold.value), expected="1")
    if kind == "readinessProbe" and "terminationGracePeriodSeconds" in probe:
        message = "a readinessProbe ends no container: terminationGracePeriodSeconds is not allowed in it"
        yield probe["terminationGracePeriodSeconds"].fault("value", message, expected="no such field")


def _sleep(seconds: Node, grace: int | None) -> Iterator[Fault]:
    """A hook sleeps no longer than the pod has to end (validateSleepAction)."""
    asked = seconds.number()
    if asked is not None and grace is not None and asked > grace:
        message = f"a sleep of {asked} s is longer than terminationGracePeriodSeconds, {grace} s"
        yield seconds.fault("value", message, found=str(asked), expected=f"at most {grace}")
