"""What a policy is. The annotations are the documentation of the file format."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from chartgen.kernel.structure import Record, about

Severity = Literal["error", "warning", "advice"]
Stage = Literal[
    "routing",
    "queue",
    "prefill",
    "decode",
    "start-up",
    "capacity",
    "resilience",
    "observability",
    "security",
    "ownership",
]
Scope = Literal[
    "document",
    "object",
    "pod",
    "engine",
    "service",
    "scaler",
    "route",
    "budget",
    "monitor",
    "bundle",
]
Level = Literal["minimum", "recommended", "strict"]
Status = Literal["stable", "preview"]

SEVERITIES: Final[tuple[Severity, ...]] = ("advice", "warning", "error")
"""From the mildest to the worst."""

LEVELS: Final[dict[Level, frozenset[Severity]]] = {
    "minimum": frozenset({"error"}),
    "recommended": frozenset({"error", "warning"}),
    "strict": frozenset({"error", "warning", "advice"}),
}
"""Which severities each level speaks of."""

Line = Annotated[str, about("One line of text.", pattern=r"^\S[^\n]*$")]
Expression = Annotated[str, about("A CEL expression.", pattern=r"\S")]
Id = Annotated[str, about("Lower-case words joined by dashes.", pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")]

Value = int | tuple[str, ...]
"""What a parameter holds: a whole number, or a list of texts."""


class Parameter(Record, frozen=True, kw_only=True):
    """Something that a house may set otherwise: expressions name it `parameters.NAME`."""

    about: Annotated[Line, about("What it is.")]
    default: Annotated[Value, about("Its value where nobody says otherwise: a whole number or a list of texts.")]


class Case(Record, frozen=True, kw_only=True):
    """A manifest and what the policy says about it. Exactly one of pass, fail and unknown is given."""

    name: Annotated[Line, about("What the case shows, in a few words.")]
    given: Annotated[str, about("The manifests, as one YAML text.")] = ""
    files: Annotated[
        dict[str, str] | None, about("Instead of `given`: files and their text, such as a chart folder.")
    ] = None
    kubernetes: Annotated[
        tuple[str, ...], about("The Kubernetes minors it is for; the newest known one by default.")
    ] = ()
    cloud: Annotated[str | None, about("Whose Kubernetes it is for, where that matters.")] = None
    pass_: Annotated[Literal[True] | None, about("The policy says nothing.")] = None
    fail: Annotated[str | list[str] | None, about("The path, or paths, at which the policy finds something.")] = None
    unknown: Annotated[Literal[True] | None, about("The policy cannot tell, and says what to run.")] = None


class Edit(Record, frozen=True, kw_only=True):
    """A safe edit: the one right answer, applied by `--fix` without touching comments or layout."""

    at: Annotated[str | None, about("Where, if not where the finding points.")] = None
    when: Annotated[Expression | None, about("The edit is only right where this is true.")] = None
    set_: Annotated[Expression | None, about("An expression: the new value.")] = None
    remove: Annotated[Literal[True] | None, about("Remove the entry and its line.")] = None


class Policy(Record, frozen=True, kw_only=True):
    """A rule, why it stands, and how to obey it."""

    id: Annotated[Id, about('The file name: named for the wrong thing, so that "allow X" reads well.')]
    title: Annotated[Line, about("What is true of a manifest that obeys.")]
    stage: Annotated[Stage, about("The part of serving that suffers; each of ours is in the folder of its stage.")]
    severity: Annotated[
        Severity,
        about(
            "error: does not start, schedule, scale or answer. warning: fails under load, update, drain, "
            "attack or a second pod. advice: would be better."
        ),
    ]
    status: Annotated[Status, about("preview: still being tried, told apart in reports.")] = "stable"
    scope: Annotated[Scope, about("The view this speaks of; it is judged once for each thing in scope.")]
    kinds: Annotated[tuple[str, ...], about("For scope object: the kinds it speaks of; empty means every kind.")] = ()
    when: Annotated[Expression | None, about("The policy speaks only where this is true.")] = None
    parameters: Annotated[
        dict[Annotated[str, about("A CEL name.", pattern=r"^[a-z][A-Za-z0-9]*$")], Parameter],
        about("What a house may set otherwise, by name."),
    ] = {}  # noqa: RUF012 - each record gets its own
    each: Annotated[
        str | None,
        about("A path to a list, such as spec.containers[].env; each entry is judged as `item`."),
    ] = None
    require: Annotated[Expression, about("What must be true.")]
    message: Annotated[Expression, about("A CEL text that names the offending value.")]
    at: Annotated[str | None, about("Where to point: a path that starts at object, pod, container or item.")] = None
    why: Annotated[str, about("What happens otherwise, and how we know.", min_length=20)]
    fix: Annotated[str, about("What to write instead.", min_length=10)]
    edit: Annotated[Edit | None, about("The safe edit, where there is one right answer.")] = None
    see: Annotated[tuple[Line, ...], about("Public sources: a project and file, or an address.")] = ()
    cases: Annotated[tuple[Case, ...], about("Examples that are tests: at least one fails and one passes.")] = ()
