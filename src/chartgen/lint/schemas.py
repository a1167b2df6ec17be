"""What the API server would say of an object, for each Kubernetes minor that is asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint.manifest import Manifest
from chartgen.lint.operators.kinds import VALUES
from chartgen.lint.unknown import Maybe, Unknown
from chartgen.validate.embedded import check_objects
from chartgen.validate.library import index, release, schema
from chartgen.validate.problem import SchemaProblem

_PLACEHOLDER: Final = re.compile(r"""["']?(?:[^"'\n]*\$\{\w|\$[A-Za-z_]\w*|<[A-Za-z][^<>\n]*>|\{\{)""")
"""${REPLICAS}, $NAME, <your-project>, {{ name }}: values of envsubst, of instructions and of other templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that the API server refuses, or takes otherwise than it was meant."""

    code: str
    """unknown-field, missing, type, value, null, duplicate, reference, api-version; kind: no such kind in the group."""
    message: str
    """The fault as a sentence."""
    builtin: bool
    """Whether the kind is Kubernetes' own: its schema is complete, while a custom one may have grown."""
    schema: str
    """What the object was held against: Kubernetes 1.37.2, kedacore/keda v2.21.0."""
    written: str | None
    """The value as written, where YAML reads an unquoted word as something else; null otherwise."""
    expected: str
    """What would do, where the schema says it: text, a mapping, a whole number."""
    text: str
    """The value as it stands in the file."""
    certain: Maybe[bool]
    """True, unless a placeholder stands where the value will be put in."""
    minors: str
    """The minors in which it is a fault, such as 1.38; empty when it is one in all that were asked."""
    at: tuple[Step, ...]
    """Where: the unknown key itself, or the parent of a missing one."""


def faults(manifest: Manifest, minors: Sequence[str]) -> tuple[Fault, ...]:
    """Every fault of an object, each once, with the minors it is a fault in."""
    found: dict[tuple[tuple[Step, ...], str, str], list[str]] = {}
    problems: dict[tuple[tuple[Step, ...], str, str], SchemaProblem] = {}
    for minor in minors:
        for problem in check_objects([(manifest.file, manifest.value)], minor):
            key = (problem.path, str(problem.code), problem.message)
            problems.setdefault(key, problem)
            found.setdefault(key, []).append(minor)
    faults = []
    for key, problem in problems.items():
        code = "kind" if problem.code == "unknown-kind" else problem.code
        if code == "kind" and not _own_group(problem.api_version):
            continue
        text = _text(manifest, problem)
        faults.append(
            Fault(
                code=code,
                message=problem.message if code != "kind" else f"{problem.api_version} has no kind {problem.kind}",
                builtin=_own_group(problem.api_version),
                schema=problem.schema,
                written=_written(text, problem),
                expected=problem.expected,
                text=text,
                certain=_certain(text),
                minors="" if len(found[key]) == len(minors) else ", ".join(found[key]),
                at=problem.path,
            )
        )
    return tuple(faults)


def unchecked(manifests: Iterable[Manifest], minors: Sequence[str]) -> Iterator[str]:
    """In words: the kinds of which only the policies can say something, as no schema of theirs is known."""
    kinds = Counter((str(one.value.get("apiVersion")), one.kind) for one in manifests)
    releases = [release(minor) for minor in minors]
    found = [
        f"{count} {kind} of {version}"
        for (version, kind), count in sorted(kinds.items())
        if not (version.startswith(f"{VALUES}/") or _own_group(version))
        and not any(schema(version, kind, one) for one in releases)
    ]
    if found:
        yield f"no schema is known for {', '.join(found)}: only what policies know was judged"


def _certain(text: str) -> Maybe[bool]:
    if _PLACEHOLDER.match(text):
        return Unknown(because=f"{text} stands for a value that is put in later", run="the file after substitution")
    return True


def _own_group(api_version: str) -> bool:
    """Whether Kubernetes itself serves the group, in some version."""
    group = api_version.rpartition("/")[0]
    return any(known.rpartition("/")[0] == group for known, _ in index().lives)


def _text(manifest: Manifest, problem: SchemaProblem) -> str:
    offsets = manifest.offsets(problem.path)
    return "" if offsets is None else manifest.document.text.content[offsets[1] : offsets[2]]


def _written(text: str, problem: SchemaProblem) -> str | None:
    """The unquoted word that YAML read as a boolean or a number where text is wanted."""
    if problem.code != "type" or problem.expected != "text":
        return None
    return text if text and text[0] not in "\"'[{|>&!" and text != problem.found else None
