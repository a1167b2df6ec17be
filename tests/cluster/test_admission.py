"""A real API server with the exported policies in it says what `chartgen lint` says, word for word."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from chartgen.policy.export import export, obstacle
from chartgen.policy.expressions import names_of
from chartgen.policy.load import ours
from chartgen.policy.types import Case, Policy
from cluster import controlplane, definitions
from cluster.admission import NAMESPACE, Court, cli_says, objects_of, wrapped
from cluster.api import wait_for
from cluster.sandbox import Sandbox

pytestmark = pytest.mark.xdist_group("admission")

ALL = tuple(ours(cases=True).values())
POLICIES = tuple(policy for policy in ALL if obstacle(policy) is None)
CASES = [(policy, case) for policy in POLICIES for case in policy.cases]


@pytest.fixture(scope="module", params=controlplane.MINORS)
def court(request: pytest.FixtureRequest) -> Iterator[Court]:
    """A control plane of its own for each minor, in which every exported policy judges."""
    with Sandbox() as sandbox:
        plane = controlplane.start(sandbox, request.param)
        definitions.install(plane.api, "keda-crds", "gateway-api-crds", "lws-crds", "kyverno-crds")
        made = Court(api=plane.api)
        made.make_namespace({"metadata": {}})
        made.install(POLICIES)
        made.wait_until_judged(POLICIES)
        yield made


def policy_named(name: str) -> Policy:
    """One of our policies."""
    return next(policy for policy in POLICIES if policy.id == name)


def pod(**spec: Any) -> dict[str, Any]:
    """A pod with some more fields."""
    container = {"name": "c", "image": "x"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x", "annotations": {}},
        "spec": {"containers": [container], **spec},
    }


def judgements(policy: Policy, case: Case) -> Iterator[dict[str, Any]]:
    """The objects of a case, and every workload that would make its pods; what runs already is made no more."""
    for value in objects_of(case):
        if "status" in value:
            continue
        yield value
        if value["kind"] == "Pod" and policy.scope == "pod":
            yield from wrapped(value)


@pytest.mark.parametrize(("policy", "case"), CASES, ids=[f"{policy.id}: {case.name}" for policy, case in CASES])
def test_verdicts_are_equal(court: Court, policy: Policy, case: Case) -> None:
    """A binding that denies refuses what the CLI finds, in its words; the one that is exported admits and warns."""
    for value in judgements(policy, case):
        court.make_namespace(value)
        expected = cli_says(policy, value)
        assert (court.denial(policy, value), court.warning(policy, value)) == (expected, expected), value["kind"]


def test_nothing_is_left_out(court: Court) -> None:
    """What is not exported needs a view, or speaks of kinds that no server here serves; and says so."""
    served = court.api.kinds()
    left = [policy for policy in ALL if policy not in POLICIES]
    assert len(POLICIES) >= 13
    for policy in left:
        assert obstacle(policy)
        needs_view = names_of(policy) - {"object", "spec", "item"}
        assert needs_view or not served & set(policy.kinds), policy.id


def test_types_are_right(court: Court) -> None:
    """The server's own type check has nothing to say of any policy."""
    complaints = court.complaints()
    assert set(complaints) >= {f"chartgen-{policy.id}" for policy in POLICIES}
    assert {name: words for name, words in complaints.items() if words} == {}


def test_all_entries_are_told_at_once(court: Court) -> None:
    """A refusal names every entry of every list that is wrong, as the CLI does."""
    privileged = {"image": "x", "securityContext": {"privileged": True}}
    value = pod(
        containers=[{"name": "a", **privileged}, {"name": "b", **privileged}],
        initContainers=[{"name": "c", **privileged}],
    )
    policy = policy_named("privileged-container")
    assert court.denial(policy, value) == cli_says(policy, value)
    assert court.denial(policy, value).count("is privileged") == 3


def test_large_pod_is_within_the_cost_budget(court: Court) -> None:
    """A pod with a thousand variables is judged, not refused for what judging it costs."""
    variables = [{"name": f"SETTING_{number}", "value": "/models/" + "x" * 40} for number in range(100)]
    value = pod(containers=[{"name": f"c{number}", "image": "x", "env": variables} for number in range(10)])
    for policy in POLICIES:
        if policy.scope == "pod":
            assert court.denial(policy, value) == cli_says(policy, value)


def test_more_words_than_the_server_takes(court: Court) -> None:
    """Findings whose messages together are too long for the server are told by the policy's title."""
    secrets = [{"name": f"SERVICE_{number}_TOKEN", "value": "plainly-here"} for number in range(100)]
    value = pod(containers=[{"name": "c", "image": "x", "env": secrets}])
    policy = policy_named("plain-token")
    assert len(cli_says(policy, value)) > 5 * 1024
    assert court.denial(policy, value) == policy.title


def test_config_map_holds_the_parameters(court: Court) -> None:
    """A changed ConfigMap changes the verdict at once; without it nothing is refused, and nothing else breaks."""
    policy = policy_named("host-path-volume")
    value = pod(volumes=[{"name": "models", "hostPath": {"path": "/mnt/models"}}])
    config_map = export(policy, "vap")[0]
    expected = cli_says(policy, value)
    assert court.denial(policy, value) == expected != ""
    court.must_apply({**config_map, "data": {"paths": "/srv/shared\n/mnt/models\n"}})
    wait_for(lambda: court.denial(policy, value) == "", "the path that is added")
    court.must_apply({**config_map, "data": {}})
    wait_for(lambda: court.denial(policy, value) == expected, "the default")
    court.api.delete(config_map)
    wait_for(lambda: court.denial(policy, value) == "" == court.warning(policy, value), "silence")
    court.must_apply(config_map)
    wait_for(lambda: court.denial(policy, value) == expected, "the parameters' return")


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.id for policy in POLICIES])
def test_kyverno_form_is_taken(court: Court, policy: Policy) -> None:
    """The server takes the Kyverno form by the definition that Kyverno publishes, and refuses a field too many."""
    (body,) = export(policy, "kyverno")
    verdict = court.api.create(body, dry_run=True)
    assert (verdict.message, verdict.warnings) == ("", ())
    body["spec"]["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    assert 'unknown field "spec.paramKind"' in court.api.create(body, dry_run=True).message


@pytest.mark.parametrize("reason", ["", " ", "installs the driver"])
def test_annotation_allows_as_in_the_cli(court: Court, reason: str) -> None:
    """The annotation that allows a policy allows it in the cluster, on any workload, and only with a reason."""
    policy = policy_named("privileged-container")
    value = pod(containers=[{"name": "c", "image": "x", "securityContext": {"privileged": True}}])
    value["metadata"]["annotations"] = {"allow.chartgen/privileged-container": reason}
    for one in (value, *wrapped(value)):
        assert court.denial(policy, one) == cli_says(policy, one)
        assert bool(court.denial(policy, one)) is not bool(reason.strip())


def test_system_is_left_alone(court: Court) -> None:
    """The cluster's own namespace, whose pods need what the policies forbid, is not judged."""
    value = pod(hostNetwork=True)
    value["metadata"]["namespace"] = "kube-system"
    assert not court.denial(policy_named("host-namespaces"), value)
    assert not court.warning(policy_named("host-namespaces"), value)


def test_what_is_there_can_be_labelled_and_deleted(court: Court) -> None:
    """A pod that was there before the policy takes labels, and its finalizers can be removed: it can end."""
    policy = policy_named("tolerates-every-taint")
    value = pod(tolerations=[{"operator": "Exists"}])
    value["metadata"] |= {"name": "old", "namespace": NAMESPACE, "finalizers": ["example.com/held"]}
    court.api.must(value)
    denied = {"metadata": {"labels": {"admission-test/denied-by": policy.id}}}
    assert court.api.merge(value, denied).message == ""
    court.api.delete(value, grace=0)
    assert court.api.merge(value, {"metadata": {"finalizers": None}}).message == ""
    wait_for(lambda: court.api.get("v1", "Pod", "old", NAMESPACE) is None, "the pod's end")


def test_altered_policy_is_noticed(court: Court) -> None:
    """Tests of these tests: another rule, other words, and a type error each give a difference."""
    policy = policy_named("host-namespaces")
    wrong = pod(hostPID=True)
    body = export(policy, "vap")[0]
    for change, differs in (
        (("hostPID", "hostPids"), lambda: court.denial(policy, wrong) != cli_says(policy, wrong)),
        (("the pod shares", "it shares"), lambda: court.denial(policy, wrong).startswith("it shares")),
        (("variables.spec", "object.spek"), lambda: court.complaints()["chartgen-host-namespaces"] != []),
    ):
        court.must_apply(json.loads(json.dumps(copy.deepcopy(body)).replace(*change)))
        wait_for(differs, f"a difference by {change}", 60)
    court.must_apply(body)
    wait_for(lambda: court.denial(policy, wrong) == cli_says(policy, wrong), "the policy as it was", 60)
    assert court.complaints()["chartgen-host-namespaces"] == []
