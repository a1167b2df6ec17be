"""Policies as admission policies of a cluster: a pure function of the policy file.

A policy whose expressions use only the raw object (or the raw pod spec) says the same in the cluster as here: the
API server speaks the same language. What needs a view, another object or the catalogue cannot be asked there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.policy.expressions import all_of, functions_of, lists_of, names_of, present_at, renamed, rule_of
from chartgen.policy.parameters import Given, literal, spelled, values_of
from chartgen.policy.types import Policy, Value

Form = Literal["vap", "kyverno"]
Action = Literal["Warn", "Audit", "Deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The values of parameters, and where a cluster keeps them."""

    given: Given = field(default_factory=dict)
    """Values other than the defaults, by policy and name."""
    namespace: str = "kube-system"
    """The namespace of the ConfigMaps: who may write there may also loosen the policies."""


_DEFAULTS: Final = Parameters()
_ADMISSION: Final = "admissionregistration.k8s.io/v1"

MINIMUM_KUBERNETES: Final = "1.30"
"""The first release that serves admissionregistration.k8s.io/v1 policies and every function that policies may use."""

_RAW: Final = frozenset({"object", "spec", "item"})


@dataclass(frozen=True, slots=True)
class Resource:
    """How the API server calls a kind, and where its pod templates are."""

    group: str
    version: str
    plural: str
    templates: tuple[str, ...] = ()


RESOURCES: Final = {
    "Pod": Resource("", "v1", "pods"),
    "Service": Resource("", "v1", "services"),
    "Deployment": Resource("apps", "v1", "deployments", ("spec.template",)),
    "StatefulSet": Resource("apps", "v1", "statefulsets", ("spec.template",)),
    "DaemonSet": Resource("apps", "v1", "daemonsets", ("spec.template",)),
    "ReplicaSet": Resource("apps", "v1", "replicasets", ("spec.template",)),
    "Job": Resource("batch", "v1", "jobs", ("spec.template",)),
    "CronJob": Resource("batch", "v1", "cronjobs", ("spec.jobTemplate.spec.template",)),
    "HorizontalPodAutoscaler": Resource("autoscaling", "v2", "horizontalpodautoscalers"),
    "PodDisruptionBudget": Resource("policy", "v1", "poddisruptionbudgets"),
    "Ingress": Resource("networking.k8s.io", "v1", "ingresses"),
    "HTTPRoute": Resource("gateway.networking.k8s.io", "v1", "httproutes"),
    "ScaledObject": Resource("keda.sh", "v1alpha1", "scaledobjects"),
    "LeaderWorkerSet": Resource(
        "leaderworkerset.x-k8s.io",
        "v1",
        "leaderworkersets",
        ("spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"),
    ),
}
"""The kinds that exported policies may speak of."""

_POD_KINDS: Final = ("Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")
_POD_SPEC: Final = (
    'object.kind == "Pod" ? object.spec : object.kind == "CronJob" ? object.spec.jobTemplate.spec.template.spec '
    ": object.spec.template.spec"
)
_NOT_THE_SYSTEM: Final = {
    "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]
}
"""A cluster's own pods need what these policies forbid, and must never be refused."""


def obstacle(policy: Policy) -> str | None:
    """Why a policy cannot be asked in a cluster; None when it can."""
    beyond = names_of(policy) - _RAW
    if beyond:
        return f"it needs {' and '.join(sorted(beyond))}, which a cluster does not show to an admission policy"
    if "quantity" in functions_of(policy):
        return "it compares quantities as numbers, which the API server does in another way"
    if policy.scope == "object" and not policy.kinds:
        return "it speaks of every kind, and an admission policy has to name its resources"
    missing = [kind for kind in policy.kinds if kind not in RESOURCES]
    return f"nobody knows what the API server calls {', '.join(missing)}" if missing else None


def export(
    policy: Policy, form: Form, actions: Sequence[Action] = ("Warn", "Audit"), parameters: Parameters = _DEFAULTS
) -> list[dict[str, Any]]:
    """The objects that make a cluster ask the policy: ready to apply, each as plain data.

    Raises:
        ValueError: the policy cannot be asked in a cluster; see `obstacle`.
    """
    reason = obstacle(policy)
    if reason is not None:
        raise ValueError(f"{policy.id}: {reason}")
    if form == "kyverno":
        return [_kyverno(policy, actions, parameters.given)]
    return _admission(policy, actions, parameters)


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


def _admission(policy: Policy, actions: Sequence[Action], parameters: Parameters) -> list[dict[str, Any]]:
    """The policy and its binding, and before them the ConfigMap that holds the values of its parameters."""
    name = f"chartgen-{policy.id}"
    labels = {"app.kubernetes.io/managed-by": "chartgen"}
    spec: dict[str, Any] = {"failurePolicy": "Fail", **_spec(policy, _read)}
    bound: dict[str, Any] = {"policyName": name, "validationActions": list(actions)}
    body = {"apiVersion": _ADMISSION, "kind": "ValidatingAdmissionPolicy", "metadata": _metadata(policy), "spec": spec}
    binding = {
        "apiVersion": _ADMISSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": labels},
        "spec": bound,
    }
    if not policy.parameters:
        return [body, binding]
    spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    # Deny would refuse every pod of the cluster, whatever the actions are, once the ConfigMap is gone.
    bound["paramRef"] = {"name": name, "namespace": parameters.namespace, "parameterNotFoundAction": "Allow"}
    values = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": parameters.namespace, "labels": labels},
        "data": {key: _written(value) for key, value in values_of(policy, parameters.given).items()},
    }
    return [values, body, binding]


def _written(value: Value) -> str:
    """A value as a ConfigMap holds it: a list has one entry on each line."""
    return str(value) if isinstance(value, int) else "\n".join(value)


def _read(name: str, default: Value) -> str:
    """The expression that reads it back; a key that is missing has the default of the policy file."""
    held = f"params.data.{name}"
    read = f"int({held})"
    if not isinstance(default, int):
        read = f'{held}.split("\\n").map(line, line.trim()).filter(line, line != "")'
    return f"has(params.data) && has({held}) ? {read} : {literal(default)}"


def _kyverno(policy: Policy, actions: Sequence[Action], given: Given) -> dict[str, Any]:
    """A Kyverno policy has no object for parameters: their values stand in its variables."""
    values = values_of(policy, given)
    spec = _spec(policy, lambda name, _: literal(values[name]))
    return {
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "ValidatingPolicy",
        "metadata": _metadata(policy),
        "spec": {"validationActions": list(actions), "failurePolicy": "Fail", **spec},
    }


def _spec(policy: Policy, value_of: Callable[[str, Value], str]) -> dict[str, Any]:
    """What both forms share; `value_of` gives the expression of a parameter by its name and default."""
    kinds = policy.kinds or _POD_KINDS
    variables = [{"name": "spec", "expression": _POD_SPEC}] if policy.scope == "pod" else []
    variables += [
        {"name": _variable(name), "expression": value_of(name, parameter.default)}
        for name, parameter in policy.parameters.items()
    ]
    return {
        "matchConstraints": {"namespaceSelector": _NOT_THE_SYSTEM, "resourceRules": _rules(kinds)},
        "matchConditions": [
            {"name": "not-being-deleted", "expression": "!has(object.metadata.deletionTimestamp)"},
            {"name": "not-allowed-by-annotation", "expression": _not_allowed(policy, kinds)},
        ],
        **({"variables": variables} if variables else {}),
        "validations": [_validation(kinds, spelled(policy, lambda name: f"variables.{_variable(name)}"))],
    }


def _variable(parameter: str) -> str:
    return f"parameter_{parameter}"


def _rules(kinds: Iterable[str]) -> list[dict[str, Any]]:
    """One rule for each API group and version; a pod changes hardly after it is made, and its node is known then."""
    grouped: dict[tuple[str, str, bool], list[str]] = {}
    for kind in kinds:
        resource = RESOURCES[kind]
        grouped.setdefault((resource.group, resource.version, kind == "Pod"), []).append(resource.plural)
    return [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "operations": ["CREATE"] if only_new else ["CREATE", "UPDATE"],
            "resources": plurals,
        }
        for (group, version, only_new), plurals in grouped.items()
    ]


def _not_allowed(policy: Policy, kinds: Iterable[str]) -> str:
    """The annotation with a reason allows in the cluster too, on the object or on its pod templates."""
    templates = dict.fromkeys(path for kind in kinds for path in RESOURCES[kind].templates)
    held = ["object.metadata", *(f"object.?{path.replace('.', '.?')}.?metadata" for path in templates)]
    return " && ".join(
        f'{metadata}.?annotations[?"allow.chartgen/{policy.id}"].orValue("").trim() == ""' for metadata in held
    )


def _validation(kinds: Sequence[str], policy: Policy) -> dict[str, str]:
    """One validation for all lists that the policy speaks of: a refusal tells the message of the first one only.

    The API server checks the types of each kind: of several, a field that only one of them has would be a fault.
    """
    names = {"spec": "variables.spec", **({"object": "dyn(object)"} if len(kinds) > 1 else {})}
    rule = renamed(rule_of(policy), names)
    message = renamed(" ".join(policy.message.split()), names)
    lists = [(renamed(base, names), segments) for base, segments in lists_of(policy)]
    if lists:
        every = [f"({all_of(base, segments, rule)})" for base, segments in lists]
        said = [_messages(base, segments, rule, message) for base, segments in lists]
        rule = " && ".join(every)
        message = said[0] if len(said) == 1 else f'[{", ".join(said)}].filter(text, text != "").join("; ")'
    # What the API server says when there are more words than it takes.
    return {"expression": rule, "messageExpression": message, "message": policy.title}


def _messages(base: str, segments: Sequence[str], rule: str, message: str, depth: int = 0) -> str:
    """The sentences of all entries that fail, joined as the linter would list them."""
    present, held = present_at(base, segments[0])
    if len(segments) == 1:
        said = f'{held}.filter(item, !({rule})).map(item, {message}).join("; ")'
    else:
        inner = f"e{depth}"
        failing = f"!({all_of(inner, segments[1:], rule, depth + 1)})"
        words = _messages(inner, segments[1:], rule, message, depth + 1)
        said = f'{held}.filter({inner}, {failing}).map({inner}, {words}).join("; ")'
    return f'({present} ? {said} : "")'
