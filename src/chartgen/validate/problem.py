"""What a schema check finds, whichever engine found it."""

from __future__ import annotations

from typing import Literal

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step

Code = Literal[
    "unknown-field",
    "missing",
    "type",
    "value",
    "null",
    "duplicate",
    "reference",
    "api-version",
    "unknown-kind",
    "no-object",
]
"""What sort of fault it is.

- unknown-field: a field that the API does not have; Helm 4 and server-side apply refuse it.
- missing: a required field is not there.
- type: text where a number is meant, and the like.
- value: of the right type, but outside what the API takes.
- null: null where a value is meant: the API server takes it for "not set", rarely what the writer meant.
- duplicate: a second entry with the same key in a list that is a map (env, ports, volumes).
- reference: a name that the same object does not define (a volume mount without its volume).
- api-version: the kind exists, but not in this API version at this minor of Kubernetes.
- unknown-kind: no schema is known for the kind: the object was NOT checked.
- no-object: the document is no Kubernetes object.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaProblem:
    """One thing wrong with one object."""

    source: str
    """The file or template it came from, as the caller named it."""
    api_version: str
    """The object's apiVersion; empty when it has none."""
    kind: str
    """The object's kind; empty when it has none."""
    name: str
    """metadata.name; empty when it has none."""
    path: tuple[Step, ...]
    """Where in the object: ("spec", "replicas"). An unknown key itself; the parent of a missing one."""
    code: Code
    """The sort of fault."""
    message: str
    """The whole finding as one sentence, without the place."""
    found: str = ""
    """What stands there, in the writer's spelling."""
    expected: str = ""
    """What would do."""
    nearest: str | None = None
    """The nearest known name, for an unknown field or word."""
    schema: str = ""
    """What the object was held against, with its version: a newer release may know a field that this does not."""

    @property
    def skipped(self) -> bool:
        """Whether this says that an object was not checked, rather than that it is wrong."""
        return self.code == "unknown-kind"
