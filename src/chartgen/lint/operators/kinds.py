"""Which kinds and values files are spelled in their own words, and who completes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from chartgen.lint.manifest import Manifest
from chartgen.lint.operators import dynamo, kaito, kubeai, modelservice, nim, production_stack
from chartgen.lint.operators.completion import Made

VALUES: Final = "values"
"""The API group that a values file is judged under: no cluster has it."""
_GROUPS: Final[Mapping[tuple[str, str], Callable[[Manifest], Made]]] = {
    ("kubeai.org", "Model"): kubeai.made,
    ("apps.nvidia.com", "NIMService"): nim.made,
    ("nvidia.com", "DynamoGraphDeployment"): dynamo.made,
    (VALUES, production_stack.KIND): production_stack.made,
    (VALUES, modelservice.KIND): modelservice.made,
}
_KAITO: Final = frozenset({("kaito.sh", "Workspace"), ("kaito.sh", "InferenceSet")})
_VALUES: Final = {
    "production-stack": (production_stack.KIND, production_stack.is_values),
    "modelservice": (modelservice.KIND, modelservice.is_values),
}


def made(manifest: Manifest, find: kaito.Find) -> Made:
    """What is made of an object; nothing for a kind that already holds its pods as Kubernetes spells them."""
    kind = (manifest.api_version.rpartition("/")[0], manifest.kind)
    if kind in _KAITO:
        return kaito.made(manifest, find)
    make = _GROUPS.get(kind)
    return make(manifest) if make else Made()


def chart_of(value: dict[str, Any]) -> tuple[str, str] | None:
    """The known chart that a document without a kind holds values of, and its kind for policies; None for neither."""
    return next(((chart, kind) for chart, (kind, knows) in _VALUES.items() if knows(value)), None)
