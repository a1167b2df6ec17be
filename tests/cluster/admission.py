"""The exported admission policies in a control plane, and what they say of an object beside what the CLI says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from chartgen.lint.cases import judge_case
from chartgen.lint.documents import read_manifests
from chartgen.lint.manifest import Manifest
from chartgen.policy.export import export
from chartgen.policy.types import Case, Policy
from cluster.api import Api, wait_for
from cluster.errors import ClusterError
from cluster.wire import Verdict

NAMESPACE: Final = "admission"
"""Where objects go that name no namespace: a manifest's own place is not for it to say."""
DENIED: Final = "admission-test/denied-by"
"""The label of objects that a policy is to deny; all others it only warns of, as its own binding says."""
_GROUP: Final = "admissionregistration.k8s.io/v1"
_DENIAL: Final = re.compile(
    r"ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '(?P<binding>[^']+)' denied request: (?P<words>.*)$",
    re.DOTALL,
)
_WARNING: Final = re.compile(
    r"Validation failed for ValidatingAdmissionPolicy '(?P<policy>[^']+)' with binding '(?P<binding>[^']+)': "
    r"(?P<words>.*)$",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """One API server with admission policies in it."""

    api: Api
    """The server."""

    def install(self, policies: Iterable[Policy]) -> None:
        """Apply what is exported, and beside its own binding one that denies objects with the policy's label."""
        for policy in policies:
            objects = export(policy, "vap")
            denying = export(policy, "vap", ["Deny"])[-1]
            denying["metadata"]["name"] += "-deny"
            denying["spec"]["matchResources"] = {"objectSelector": {"matchLabels": {DENIED: policy.id}}}
            for body in (*objects, denying):
                self.must_apply(body)

    def must_apply(self, body: dict[str, Any]) -> None:
        """Apply an object without an objection; ClusterError when there is one."""
        verdict = self.api.apply(body, force=True)
        if not verdict.accepted or verdict.warnings:
            raise ClusterError(f"{body['kind']} {body['metadata']['name']}: {verdict.message} {verdict.warnings}")

    def wait_until_judged(self, policies: Iterable[Policy]) -> None:
        """Wait until every policy denies and warns of an object that its own examples call wrong."""
        for policy in policies:
            wrong = next(value for case in policy.cases for value in objects_of(case) if cli_says(policy, value))
            self.make_namespace(wrong)

            def judged(policy: Policy = policy, wrong: dict[str, Any] = wrong) -> bool:
                return bool(self.denial(policy, wrong) and self.warning(policy, wrong))

            wait_for(judged, f"the policy {policy.id} judges", 60)

    def make_namespace(self, value: dict[str, Any]) -> None:
        """Make the namespace that an object is sent to, unless it is there."""
        name = value["metadata"].get("namespace", NAMESPACE)
        if self.api.get("v1", "Namespace", name) is None:
            self.api.must({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def denial(self, policy: Policy, value: dict[str, Any]) -> str:
        """The words with which the policy refuses an object; empty when it is admitted."""
        labels = {**(value["metadata"].get("labels") or {}), DENIED: policy.id}
        verdict = self.send({**value, "metadata": {**value["metadata"], "labels": labels}})
        if verdict.accepted:
            return ""
        found = _DENIAL.search(verdict.message)
        if found is None or found["policy"] != f"chartgen-{policy.id}":
            raise ClusterError(f"{policy.id}: refused by something else: {verdict.message}")
        return found["words"]

    def warning(self, policy: Policy, value: dict[str, Any]) -> str:
        """The words with which the policy warns of an object, which must be admitted; empty when it does not."""
        verdict = self.send(value)
        if not verdict.accepted:
            raise ClusterError(f"{policy.id}: refused: {verdict.message}")
        found = [_WARNING.search(text) for text in verdict.warnings]
        (words,) = [one["words"] for one in found if one and one["policy"] == f"chartgen-{policy.id}"] or [""]
        return words

    def send(self, value: dict[str, Any]) -> Verdict:
        """Ask the server what it would say to a new object."""
        return self.api.create(value, namespace=NAMESPACE, dry_run=True)

    def complaints(self) -> dict[str, list[str]]:
        """What the server's type check says of each policy, once it has checked them all."""
        path = "ValidatingAdmissionPolicy"

        def checked() -> list[dict[str, Any]] | None:
            found = self.api.list(_GROUP, path)
            done = (one.get("status", {}).get("observedGeneration") == one["metadata"]["generation"] for one in found)
            return found if all(done) else None

        return {
            one["metadata"]["name"]: [
                warning["warning"] for warning in one["status"].get("typeChecking", {}).get("expressionWarnings", [])
            ]
            for one in wait_for(checked, "the policies' type check", 60)
        }


def objects_of(case: Case) -> Iterator[dict[str, Any]]:
    """The objects of a case, as plain data."""
    for text in (case.files or {"case.yaml": case.given}).values():
        for found in read_manifests(text, "case.yaml", "case"):
            if isinstance(found, Manifest):
                yield found.value


def cli_says(policy: Policy, value: dict[str, Any]) -> str:
    """What the CLI says of one object: the messages of a policy's findings, joined as the export joins them."""
    outcome = judge_case(policy, Case(name="one object", given=json.dumps(value)))
    return "; ".join(finding.message for finding in outcome.findings)


_TEMPLATED: Final = {
    "Deployment": {"apiVersion": "apps/v1"},
    "StatefulSet": {"apiVersion": "apps/v1"},
    "DaemonSet": {"apiVersion": "apps/v1"},
    "Job": {"apiVersion": "batch/v1"},
    "CronJob": {"apiVersion": "batch/v1"},
}


def wrapped(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The workloads that would make such a pod: what a policy says of it, it says of them."""
    labels = {"app": "x"}
    for kind, head in _TEMPLATED.items():
        batch = kind in {"Job", "CronJob"}
        metadata = {"labels": labels, "annotations": pod["metadata"].get("annotations", {})}
        spec = {**pod["spec"], **({"restartPolicy": "Never"} if batch else {})}
        body: dict[str, Any] = {"template": {"metadata": metadata, "spec": spec}}
        if not batch:
            body["selector"] = {"matchLabels": labels}
        if kind == "StatefulSet":
            body["serviceName"] = "x"
        if kind == "CronJob":
            body = {"schedule": "0 3 * * *", "jobTemplate": {"spec": body}}
        yield {**head, "kind": kind, "metadata": {"name": pod["metadata"]["name"]}, "spec": body}
