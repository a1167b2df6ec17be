"""Policies as admission policies of a cluster: a pure function of the policy file.

A policy whose expressions use only the raw object (or the raw pod spec) says the same in the cluster as here: the
API server speaks the same language. What needs a view, another object or the catalogue cannot be asked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from chartgen.policy.expressions import all_of, lists_of, names_of, present_at, renamed, rule_of
from chartgen.policy.types import Policy

Form = Literal["vap", "kyverno"]
Action = Literal["Warn", "Audit", "Deny"]

MINIMUM_KUBERNETES: Final = "1.30"
"""The first release that serves admissionregistration.k8s.io/v1 policies and every function that policies may use."""

_RAW: Final = frozenset({"object", "spec", "item"})


@dataclass(frozen=True, slots=True)
class Resource:
    """How the API server calls a kind."""

    group: str
    version: str
    plural: str


RESOURCES: Final = {
    "Pod": Resource("", "v1", "pods"),
    "Service": Resource("", "v1", "services"),
    "Deployment": Resource("apps", "v1", "deployments"),
    "StatefulSet": Resource("apps", "v1", "statefulsets"),
    "DaemonSet": Resource("apps", "v1", "daemonsets"),
    "ReplicaSet": Resource("apps", "v1", "replicasets"),
    "Job": Resource("batch", "v1", "jobs"),
    "CronJob": Resource("batch", "v1", "cronjobs"),
    "HorizontalPodAutoscaler": Resource("autoscaling", "v2", "horizontalpodautoscalers"),
    "PodDisruptionBudget": Resource("policy", "v1", "poddisruptionbudgets"),
    "Ingress": Resource("networking.k8s.io", "v1", "ingresses"),
    "HTTPRoute": Resource("gateway.networking.k8s.io", "v1", "httproutes"),
    "ScaledObject": Resource("keda.sh", "v1alpha1", "scaledobjects"),
    "LeaderWorkerSet": Resource("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
}
"""The kinds that exported policies may speak of."""

_POD_KINDS: Final = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")
_POD_SPEC: Final = (
    'object.kind == "Pod" ? object.spec : object.kind == "CronJob" ? object.spec.jobTemplate.spec.template.spec '
    ": object.spec.template.spec"
)
_NAMES: Final = {"spec": "variables.spec"}


def obstacle(policy: Policy) -> str | None:
    """Why a policy cannot be asked in a cluster; None when it can."""
    beyond = names_of(policy) - _RAW
    if beyond:
        return f"it needs {' and '.join(sorted(beyond))}, which a cluster does not show to an admission policy"
    if policy.scope == "object" and not policy.kinds:
        return "it speaks of every kind, and an admission policy has to name its resources"
    missing = [kind for kind in policy.kinds if kind not in RESOURCES]
    return f"nobody knows what the API server calls {', '.join(missing)}" if missing else None


def export(policy: Policy, form: Form, actions: Sequence[Action] = ("Warn", "Audit")) -> list[dict[str, Any]]:
    """The objects that make a cluster ask the policy: ready to apply, each as plain data.

    Raises:
        ValueError: the policy cannot be asked in a cluster; see `obstacle`.
    """
    reason = obstacle(policy)
    if reason is not None:
        raise ValueError(f"{policy.id}: {reason}")
    return _kyverno(policy, actions) if form == "kyverno" else _admission(policy, actions)


def _metadata(policy: Policy) -> dict[str, Any]:
    return {
        "name": f"chartgen-{policy.id}",
        "labels": {"app.kubernetes.io/managed-by": "chartgen", "chartgen/stage": policy.stage},
        "annotations": {
            "chartgen/title": policy.title,
            "chartgen/severity": policy.severity,
            "chartgen/fix": " ".join(policy.fix.split()),
            "chartgen/minimum-kubernetes": MINIMUM_KUBERNETES,
        },
    }


def _admission(policy: Policy, actions: Sequence[Action]) -> list[dict[str, Any]]:
    name = f"chartgen-{policy.id}"
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": _metadata(policy),
        "spec": {"failurePolicy": "Fail", **_spec(policy)},
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "chartgen"}},
        "spec": {"policyName": name, "validationActions": list(actions)},
    }
    return [body, binding]


def _kyverno(policy: Policy, actions: Sequence[Action]) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "policies.kyverno.io/v1",
            "kind": "ValidatingPolicy",
            "metadata": _metadata(policy),
            "spec": {"validationActions": list(actions), "failurePolicy": "Fail", **_spec(policy)},
        }
    ]


def _spec(policy: Policy) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "matchConstraints": {"resourceRules": _rules(policy.kinds or _POD_KINDS)},
        "matchConditions": [{"name": "not-allowed-by-annotation", "expression": _not_allowed(policy)}],
    }
    if policy.scope == "pod":
        spec["variables"] = [{"name": "spec", "expression": _POD_SPEC}]
    spec["validations"] = list(_validations(policy))
    return spec


def _rules(kinds: Iterable[str]) -> list[dict[str, Any]]:
    """One rule for each API group and version."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        resource = RESOURCES[kind]
        grouped.setdefault((resource.group, resource.version), []).append(resource.plural)
    return [
        {"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE", "UPDATE"], "resources": plurals}
        for (group, version), plurals in grouped.items()
    ]


def _not_allowed(policy: Policy) -> str:
    """The annotation with a reason allows in the cluster too, on the object or on its pod template."""
    key = f'"allow.chartgen/{policy.id}"'

    def free(metadata: str, guard: str) -> str:
        held = f"{metadata}.annotations"
        return f'(!({guard}has({held})) || !({key} in {held}) || {held}[{key}] == "")'

    template = "object.spec.template.metadata"
    guard = f"has(object.spec) && has(object.spec.template) && has({template}) && "
    return f"{free('object.metadata', '')} && {free(template, guard)}"


def _validations(policy: Policy) -> Iterable[dict[str, str]]:
    """One validation, or one for each list that the policy speaks of."""
    rule = renamed(rule_of(policy), _NAMES)
    message = renamed(" ".join(policy.message.split()), _NAMES)
    if policy.each is None:
        yield {"expression": rule, "messageExpression": message}
    for base, segments in lists_of(policy):
        root = renamed(base, _NAMES)
        yield {
            "expression": all_of(root, segments, rule),
            "messageExpression": _messages(root, segments, rule, message),
        }


def _messages(base: str, segments: Sequence[str], rule: str, message: str, depth: int = 0) -> str:
    """The sentences of all entries that fail, joined as the linter would list them."""
    _, held = present_at(base, segments[0])
    if len(segments) == 1:
        return f'{held}.filter(item, !({rule})).map(item, {message}).join("; ")'
    inner = f"e{depth}"
    failing = f"!({all_of(inner, segments[1:], rule, depth + 1)})"
    said = _messages(inner, segments[1:], rule, message, depth + 1)
    return f'{held}.filter({inner}, {failing}).map({inner}, {said}).join("; ")'
