"""What a cluster is asked to judge is what the linter judges, word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from chartgen.kernel.structure import replaced
from chartgen.lint.cases import judge_case
from chartgen.lint.cel import activation, compile_expression
from chartgen.lint.documents import read_manifests
from chartgen.lint.manifest import Manifest
from chartgen.policy.export import export, obstacle
from chartgen.policy.load import ours
from chartgen.policy.types import Case, Policy
from chartgen.validate.embedded import check_objects

POLICIES = [policy for policy in ours(cases=True).values() if obstacle(policy) is None]
CASES = [(policy, case) for policy in POLICIES for case in policy.cases]


def objects(case: Case) -> Iterator[dict[str, Any]]:
    for found in read_manifests(case.given, "case.yaml", "case"):
        if isinstance(found, Manifest):
            yield found.value


def plurals(policy: dict[str, Any]) -> set[tuple[str, str]]:
    rules = policy["spec"]["matchConstraints"]["resourceRules"]
    return {(group, plural) for rule in rules for group in rule["apiGroups"] for plural in rule["resources"]}


def matched(policy: dict[str, Any], value: dict[str, Any]) -> bool:
    group = value["apiVersion"].rpartition("/")[0]
    kind = value["kind"].lower()
    return any(group == known and plural.startswith(kind) for known, plural in plurals(policy))


def evaluate(expression: str, data: dict[str, Any]) -> Any:
    return compile_expression(expression).evaluate(activation(data))


def exported(policy: Policy, kind: str) -> dict[str, Any]:
    """The object of a kind that a policy is exported as."""
    return next(body for body in export(policy, "vap") if body["kind"] == kind)


def cluster_says(policy: Policy, value: dict[str, Any], params: dict[str, Any] | None = None) -> list[str]:
    """The messages with which an admission policy would refuse an object; `params` are another ConfigMap's data."""
    body = exported(policy, "ValidatingAdmissionPolicy")
    if not matched(body, value):
        return []
    data: dict[str, Any] = {"object": value}
    if policy.parameters:
        data["params"] = {"data": exported(policy, "ConfigMap")["data"] if params is None else params}
    for condition in body["spec"]["matchConditions"]:
        if evaluate(condition["expression"], data) is not True:
            return []
    variables = {one["name"]: evaluate(one["expression"], data) for one in body["spec"].get("variables", [])}
    data["variables"] = variables
    refusals = []
    for validation in body["spec"]["validations"]:
        verdict = evaluate(validation["expression"], data)
        assert isinstance(verdict, bool), verdict
        if not verdict:
            refusals.append(evaluate(validation["messageExpression"], data))
    return refusals


@pytest.mark.parametrize(("policy", "case"), CASES, ids=[f"{policy.id}: {case.name}" for policy, case in CASES])
def test_agrees(policy: Policy, case: Case) -> None:
    """For every case, the exported policy refuses what the linter finds, with the same words."""
    linter = sorted(finding.message for finding in judge_case(policy, case).findings)
    cluster = [words for value in objects(case) for text in cluster_says(policy, value) for words in text.split("; ")]
    assert sorted(cluster) == linter


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.id for policy in POLICIES])
def test_is_valid(policy: Policy) -> None:
    """The exported objects are what the API server takes, on the oldest and the newest Kubernetes."""
    made = [("export", value) for value in export(policy, "vap")]
    assert check_objects(made, "1.33") + check_objects(made, "1.37") == []


def test_binding_warns_and_audits_by_default() -> None:
    """Nothing is refused in a cluster until somebody asks for it."""
    policy = POLICIES[0]
    assert export(policy, "vap")[-1]["spec"]["validationActions"] == ["Warn", "Audit"]
    assert export(policy, "vap", ["Deny"])[-1]["spec"]["validationActions"] == ["Deny"]


@pytest.mark.parametrize(
    ("data", "allowed"),
    [
        ({"paths": "/mnt/models"}, True),
        ({"paths": "/srv/shared\n  /mnt/models  \n"}, True),
        ({"paths": ""}, False),
        ({}, False),
    ],
)
def test_config_map_decides(data: dict[str, Any], *, allowed: bool) -> None:
    """A policy judges by its ConfigMap, one entry a line; a key that is missing has its default."""
    policy = next(one for one in POLICIES if one.id == "host-path-volume")
    (value,) = objects(policy.cases[0])
    assert (cluster_says(policy, value, data) == []) is allowed


def test_missing_config_map_refuses_nothing() -> None:
    """Without the ConfigMap the policy is silent: the other choice refuses every pod, whatever the actions are."""
    policy = next(one for one in POLICIES if one.id == "host-path-volume")
    reference = exported(policy, "ValidatingAdmissionPolicyBinding")["spec"]["paramRef"]
    assert reference["parameterNotFoundAction"] == "Allow"
    values = exported(policy, "ConfigMap")["metadata"]
    assert (reference["name"], reference["namespace"]) == (values["name"], values["namespace"])


def test_an_annotation_with_a_reason_allows() -> None:
    """The annotation that allows a policy here allows it in the cluster too, and only with a reason."""
    policy = next(one for one in POLICIES if one.id == "privileged-container")
    (value,) = objects(policy.cases[0])
    assert cluster_says(policy, value)
    value["metadata"]["annotations"] = {"allow.chartgen/privileged-container": ""}
    assert cluster_says(policy, value)
    value["metadata"]["annotations"] = {"allow.chartgen/privileged-container": "installs the driver"}
    assert not cluster_says(policy, value)


def test_an_annotation_on_a_pod_template_allows() -> None:
    """On a CronJob's pod template the annotation allows as well."""
    policy = next(one for one in POLICIES if one.id == "privileged-container")
    (pod,) = objects(policy.cases[0])
    metadata = {"annotations": {"allow.chartgen/privileged-container": "installs the driver"}}
    template = {"metadata": metadata, "spec": pod["spec"]}
    value = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "x"},
        "spec": {"jobTemplate": {"spec": {"template": template}}},
    }
    assert not cluster_says(policy, value)
    metadata["annotations"] = {}
    assert cluster_says(policy, value)


def test_all_entries_are_told_at_once() -> None:
    """There is one validation for all lists of a policy: the API server tells the message of the first one only."""
    policy = next(one for one in POLICIES if one.id == "privileged-container")
    (value,) = objects(policy.cases[0])
    value["spec"]["initContainers"] = [{**value["spec"]["containers"][0], "name": "init"}]
    (said,) = cluster_says(policy, value)
    assert said.count("is privileged") == 2


def test_what_is_there_is_left_alone() -> None:
    """Pods are judged when they are made, nothing while it is deleted, and never the cluster's own namespace."""
    body = exported(next(one for one in POLICIES if one.scope == "pod"), "ValidatingAdmissionPolicy")["spec"]
    rules = body["matchConstraints"]["resourceRules"]
    assert [rule["operations"] for rule in rules if "pods" in rule["resources"]] == [["CREATE"]]
    assert all(rule["operations"] == ["CREATE", "UPDATE"] for rule in rules if "pods" not in rule["resources"])
    (selector,) = body["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert (selector["operator"], selector["values"]) == ("NotIn", ["kube-system"])
    condition = body["matchConditions"][0]["expression"]
    assert evaluate(condition, {"object": {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}}) is False
    assert evaluate(condition, {"object": {"metadata": {}}}) is True


def test_object_of_several_kinds_has_no_type() -> None:
    """A field of one kind alone passes the API server's type check of the others, and one kind is checked."""
    by_id = {policy.id: exported(policy, "ValidatingAdmissionPolicy")["spec"] for policy in POLICIES}
    (several,) = by_id["pod-pinned-to-node"]["validations"]
    assert "has(dyn(object).status.startTime)" in several["expression"]
    (one,) = by_id["only-host-triggers-at-zero"]["validations"]
    assert "dyn(" not in one["expression"]


def test_quantities_cannot_be_exported() -> None:
    """A policy that compares quantities as numbers says why it cannot be asked: the API server does it otherwise."""
    require = 'quantity(object.spec.resources.requests.storage) >= quantity("1Gi")'
    policy = replaced(POLICIES[1], scope="object", kinds=("Service",), require=require)
    assert obstacle(policy) == "it compares quantities as numbers, which the API server does in another way"


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.id for policy in POLICIES])
def test_kyverno_form(policy: Policy) -> None:
    """The Kyverno form holds the same expressions as the admission policy, and values instead of parameters."""
    (made,) = export(policy, "kyverno")
    body = exported(policy, "ValidatingAdmissionPolicy")
    assert (made["apiVersion"], made["kind"]) == ("policies.kyverno.io/v1", "ValidatingPolicy")
    for key in ("validations", "matchConditions", "matchConstraints"):
        assert made["spec"][key] == body["spec"][key]
    assert "params" not in json.dumps(made)


def test_a_view_cannot_be_exported() -> None:
    """A policy that needs a view says why it cannot be asked in a cluster."""
    policy = ours(cases=False)["missing-shared-memory"]
    assert "engine" in (obstacle(policy) or "")
    with pytest.raises(ValueError, match="engine"):
        export(policy, "vap")
