"""Two pages for those who write policies of their own or ask a cluster: generated, so that they stay true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from chartgen.kernel.structure import fields_of
from chartgen.policy.export import MINIMUM_KUBERNETES, Parameters, obstacle
from chartgen.policy.types import Case, Edit, Parameter, Policy

_OWN: Final = """\
# Policies of your own

A policy is a YAML file called after its id, in a folder that `--policies FOLDER`, or `policies:` in
`.chartgen-lint.yaml`, names. It is judged, shown, tested and exported as ours are; with the id of one of ours it
takes its place, and every command says so. A mistake is told with file and line before anything is judged.

```yaml
# policies/no-latest-tag.yaml
id: no-latest-tag
title: Images have a tag that stays
stage: ownership
severity: warning
scope: pod
each: spec.containers
require: '!item.image.endsWith(":latest")'
message: '"container " + item.name + " runs " + item.image + ", which changes without a rollout"'
at: item.image
why: What latest means is decided when a node pulls it, so that two replicas may run two versions.
fix: Name the version.
cases:
  - name: latest
    fail: spec.containers[0].image
    given: |
      {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: "x:latest"}]}}
  - name: a version
    pass: true
    given: |
      {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: "x:1.2"}]}}
```

```sh
chartgen policy test no-latest-tag --policies policies/
chartgen lint manifests/ --policies policies/
```

Expressions are [CEL](https://cel.dev) with functions that Kubernetes 1.30 has too: those of strings, optional values
and sets, `quantity`, `isQuantity`, `find` and `findAll`. [What they can speak of](views.md) depends on the scope."""

_CLUSTER: Final = """\
# Policies in a cluster

```sh
chartgen policy export | kubectl apply -f -                # warn and audit
chartgen policy export privileged-container --action Deny  # refuse
chartgen policy export --as kyverno
```

prints the policies that a cluster can be asked: those that speak of the raw object alone. The others need what
`chartgen lint` works out, or more than one object; the command lists each with the reason.

- A ValidatingAdmissionPolicy and its binding need Kubernetes {minimum} or later; each names that as an annotation. The
  binding warns and audits unless `--action Deny` is given. Every example of every exported policy is judged by the API
  servers of Kubernetes 1.34 and 1.37 in chartgen's tests: same verdict, same words.
- A policy with parameters reads them from a ConfigMap of its own name in `{namespace}` (or `--namespace`), one entry
  of a list on each line. A change there counts at once; a key that is missing has its default. Without the ConfigMap
  the policy is silent: the API server's other choice is to refuse every object. `--config .chartgen-lint.yaml` writes
  the values of the lint configuration into it.
- The annotation `allow.chartgen/ID` with a reason, on the object or its pod template, allows in the cluster as well.
- `kube-system` is never judged: the cluster's own pods need what these policies forbid. Leave more out with
  `matchResources` in a binding.
- Pods are judged when they are made, and nothing is judged while it is being deleted, so that what was there before a
  policy can be labelled and can end.
- The Kyverno form is a ValidatingPolicy with the same expressions, and with the parameters' values as variables.
  It is held against the definition that Kyverno 1.19.1 publishes; no test runs Kyverno itself.

## Exported"""


def own_page() -> str:
    """How to write a policy: an example, and every key with its sentence."""
    kinds: tuple[tuple[str, type[Any]], ...] = (
        ("Keys of a policy", Policy),
        ("Keys of an entry of `parameters`", Parameter),
        ("Keys of an entry of `cases`", Case),
        ("Keys of `edit`", Edit),
    )
    return "\n\n".join([_OWN, *(part for title, kind in kinds for part in _keys(title, kind))])


def _keys(title: str, kind: type[Any]) -> Iterator[str]:
    yield f"## {title}"
    rows = [f"| `{name.removesuffix('_')}` | {text} |" for name, text in fields_of(kind).items()]
    yield "\n".join(["| key | what it is |", "|---|---|", *rows])


def cluster_page(policies: Iterable[Policy]) -> str:
    """What a cluster can be asked, and how."""
    rows = [
        f"| [{policy.id}]({policy.stage}/{policy.id}.md) | {policy.severity} | "
        f"{', '.join(f'`{name}`' for name in policy.parameters)} |"
        for policy in policies
        if obstacle(policy) is None
    ]
    text = _CLUSTER.format(minimum=MINIMUM_KUBERNETES, namespace=Parameters().namespace)
    return "\n\n".join([text, "\n".join(["| policy | severity | parameters |", "|---|---|---|", *rows])])
