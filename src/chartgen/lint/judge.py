"""Judging: one policy on one thing in scope gives problems, an open question, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final, TypeAlias

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.lint import cel, paths
from chartgen.lint.finding import Change, Problem, Stumble, Untold
from chartgen.lint.manifest import Manifest
from chartgen.lint.unknown import Unknown
from chartgen.policy.expressions import all_of, lists_of, names_in, rule_of
from chartgen.policy.parameters import Given, settled
from chartgen.policy.types import Policy, Scope

_NOTHING: Final[Given] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One thing in scope: its data for expressions, and where its parts stand in the object."""

    scope: Scope
    """The scope it is judged in."""
    manifest: Manifest
    """The object that findings point into."""
    data: Mapping[str, Any]
    """The variables of the scope, as plain data."""
    anchors: Mapping[str, tuple[Step, ...]]
    """Where object, pod and container stand, from the object's root."""
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    """What the view cannot tell, by the key that is left out of the data."""
    activations: dict[bool, Any] = field(default_factory=dict)
    """The data as the engine holds it, with and without the whole object: copied in once for all policies."""

    def activation(self, names: frozenset[str], cluster: Mapping[str, Any]) -> Any:
        """The data for an expression that uses the names."""
        whole = self.scope == "object" or "object" in names
        found = self.activations.get(whole)
        if found is None:
            data = {name: value for name, value in self.data.items() if whole or name != "object"}
            found = self.activations[whole] = cel.activation({**data, "cluster": cluster})
        return found


Said: TypeAlias = Problem | Untold | Stumble
"""What a policy says of a subject."""


class Rule:
    """A policy with its expressions compiled: when they are needed, and once."""

    def __init__(self, policy: Policy, given: Given = _NOTHING) -> None:
        self.policy = settled(policy, given)

    @cached_property
    def each(self) -> tuple[paths.Each, ...]:
        """The lists it speaks of; empty when it speaks of the whole subject."""
        return paths.parse_each(self.policy.each) if self.policy.each else ()

    @cached_property
    def requirement(self) -> cel.Expression:
        """What must be true of the subject, or of one entry."""
        return cel.compile_expression(rule_of(self.policy))

    @cached_property
    def whole(self) -> cel.Expression:
        """What must be true of all entries at once: the quick way to nothing being wrong."""
        rule = rule_of(self.policy)
        return cel.compile_expression(
            " && ".join(f"({all_of(base, segments, rule)})" for base, segments in lists_of(self.policy))
        )

    @cached_property
    def message(self) -> cel.Expression:
        """The sentence of a finding."""
        return cel.compile_expression(self.policy.message)

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables that its requirement uses."""
        return names_in(rule_of(self.policy)) | {base for base, _ in lists_of(self.policy)}

    @cached_property
    def names_of_entry(self) -> frozenset[str]:
        """The variables that are needed to judge one entry and to speak of it."""
        edit = self.policy.edit
        texts = [rule_of(self.policy), self.policy.message]
        texts += [edit.when or "", edit.set_ or ""] if edit else []
        return frozenset().union(*map(names_in, texts))

    @cached_property
    def at(self) -> paths.Route | None:
        """Where its findings point; None for the natural place."""
        return paths.parse(self.policy.at) if self.policy.at else None

    def judge(self, subject: Subject, cluster: Mapping[str, Any]) -> Iterator[Said]:
        """What the policy has to say of a subject."""
        if self.policy.kinds and subject.manifest.kind not in self.policy.kinds:
            return
        if not self.each:
            activation = subject.activation(self.names, cluster)
            yield from self._verdict(
                subject, activation, lambda: subject.activation(self.names_of_entry, cluster), None
            )
            return
        if not any(each.any(subject.data) for each in self.each):
            return
        if self.whole.evaluate(subject.activation(self.names, cluster)) is not True:
            data = {name: value for name, value in subject.data.items() if name in self.names_of_entry}
            for each in self.each:
                for entry in each.entries(subject.data):
                    one = cel.activation({**data, "cluster": cluster, "item": entry.value})
                    yield from self._verdict(subject, one, None, (each.start, entry))

    def _verdict(
        self,
        subject: Subject,
        activation: Any,
        speaking: Callable[[], Any] | None,
        entry: tuple[str, paths.Entry] | None,
    ) -> Iterator[Said]:
        verdict = self.requirement.evaluate(activation)
        if verdict is True:
            return
        if verdict is not False:
            yield self._no_verdict(subject, "require", verdict, "neither true nor false")
            return
        words = speaking() if speaking else activation
        message = self.message.evaluate(words)
        if not isinstance(message, str):
            yield self._no_verdict(subject, "message", message, "no text")
            return
        item = entry[1].value if entry else None
        line = item.get("line") if isinstance(item, dict) and "at" in item else None
        path = self._place(self.at, subject, entry)
        yield Problem(path=path, message=message, line=line, change=self._change(words, subject, entry, path))

    def _no_verdict(self, subject: Subject, key: str, result: Any, wrong: str) -> Untold | Stumble:
        if isinstance(result, cel.Missing) and result.key in subject.unknown:
            fact = subject.unknown[result.key]
            return Untold(policy=self.policy, manifest=subject.manifest, because=fact.because, run=fact.run)
        match result:
            case cel.Missing(missing):
                text = f"the key {missing!r} is missing"
            case cel.Failure(text):
                pass
            case _:
                text = f"{key} gave {result!r}, which is {wrong}"
        return Stumble(policy=self.policy, manifest=subject.manifest, key=key, text=text)

    def _change(
        self, activation: Any, subject: Subject, entry: tuple[str, paths.Entry] | None, path: tuple[Step, ...]
    ) -> Change | None:
        """The safe edit, where the policy has one and it is right here."""
        edit = self.policy.edit
        if edit is None or (edit.when and cel.compile_expression(edit.when).evaluate(activation) is not True):
            return None
        if edit.at:
            path = self._place(paths.parse(edit.at), subject, entry)
        if edit.remove:
            return Change(path=path, value=None)
        value = cel.compile_expression(edit.set_ or '""').evaluate(activation)
        return Change(path=path, value=value) if isinstance(value, str) and value else None

    @staticmethod
    def _place(at: paths.Route | None, subject: Subject, entry: tuple[str, paths.Entry] | None) -> tuple[Step, ...]:
        """The path that a finding points at, from the root of the object."""
        if at is not None and at.start != "item":
            return (*subject.anchors.get(at.start, ()), *at.steps)
        within = at.steps if at else ()
        if entry is not None:
            start, found = entry
            if isinstance(found.value, dict) and isinstance(found.value.get("at"), list):
                return (*found.value["at"], *within)
            return (*subject.anchors.get(_anchor(start), ()), *found.path, *within)
        natural = next(name for name in ("container", "pod", "object") if name in subject.anchors)
        return subject.anchors[natural]


def _anchor(variable: str) -> str:
    """The anchor at which a raw variable stands: the pod's raw spec is called `spec` in expressions."""
    return "pod" if variable == "spec" else variable
