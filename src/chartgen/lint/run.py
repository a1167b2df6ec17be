"""The linter: inputs and policies in, everything there is to say out. It never raises for a bad manifest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, date, datetime
from typing import Any

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.errors import Position
from chartgen.lint import fix
from chartgen.lint.allow import Allowance, Mark, marks_of, sort_out
from chartgen.lint.bundle import Bundle
from chartgen.lint.finding import Change, Counts, Finding, Outcome, Problem, Splice, Stumble, Untold
from chartgen.lint.judge import Rule, Subject
from chartgen.lint.manifest import Inputs, Manifest, Place
from chartgen.lint.schemas import faults, unchecked
from chartgen.lint.select import Selection, chosen
from chartgen.lint.subjects import Surroundings, document_subjects, subjects
from chartgen.lint.unread_engines import unread_engines
from chartgen.lint.views.all import Views
from chartgen.policy.load import PolicySet
from chartgen.policy.parameters import Given
from chartgen.policy.types import Policy, Scope


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one call of the linter is asked."""

    inputs: Inputs
    """What to judge."""
    policies: PolicySet
    """The policies there are."""
    selection: Selection = field(default_factory=Selection)
    """Which of them to ask."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    """What is known of the cluster."""
    allowances: tuple[Allowance, ...] = ()
    """What the configuration file allows."""
    parameters: Given = field(default_factory=dict)
    """What it gives for the parameters of policies."""
    baseline: frozenset[str] = frozenset()
    """Fingerprints of findings that were there before."""
    today: date = field(default_factory=_today)
    """The day that expiry dates are held against."""


@dataclass(slots=True)
class _Said:
    """What policies said, before allowances are looked at."""

    findings: list[Finding] = field(default_factory=list)
    untold: list[Untold] = field(default_factory=list)
    stumbles: list[Stumble] = field(default_factory=list)

    def add(self, rule: Rule, subject: Subject, cluster: Mapping[str, Any]) -> None:
        for said in rule.judge(subject, cluster):
            match said:
                case Problem():
                    self.findings.append(_finding(rule.policy, subject.manifest, said))
                case Untold():
                    self.untold.append(said)
                case Stumble():
                    self.stumbles.append(said)


def lint(request: Request) -> Outcome:
    """Judge every manifest by every policy that is asked."""
    policies = chosen(request.policies, request.selection)
    rules = _by_scope(policies, request.parameters)
    said = _Said()
    bundles = _bundles(request.inputs.manifests)
    world = bundles[0] if len(bundles) == 1 else Bundle("", request.inputs.manifests)
    marks: list[Mark] = []
    for bundle in bundles:
        marks.extend(marks_of(bundle))
        _judge_bundle(Views(bundle, world, request.surroundings.cloud), rules, request.surroundings, said)
    standing, allowed, used = sort_out(said.findings, marks, request.allowances, request.today)
    asked = frozenset(policy.id for policy in policies)
    about_text = _Said()
    every = frozenset(request.policies.policies)
    of_text = rules.get("document", [])
    cluster = request.surroundings.cluster
    texts = request.inputs.manifests if of_text else ()
    for subject in document_subjects(texts, marks, request.surroundings.asked, asked, every):
        for rule in of_text:
            about_text.add(rule, subject, cluster)
    more, more_allowed, _ = sort_out(about_text.findings, marks, request.allowances, request.today)
    found = (*standing, *more)
    findings = [one for one in found if one.fingerprint not in request.baseline]
    stumbles = tuple(_placed(one, request.policies) for one in (*said.stumbles, *about_text.stumbles))
    malformed = _malformed(stumbles, request.surroundings.asked)
    return Outcome(
        findings=tuple(sorted(findings, key=_order)),
        allowed=(*allowed, *more_allowed),
        untold=(*said.untold, *about_text.untold, *(_broken(one) for one in stumbles if id(one.manifest) in malformed)),
        stumbles=tuple(one for one in stumbles if id(one.manifest) not in malformed),
        unread=request.inputs.unread,
        notes=(
            *request.policies.notes,
            *request.inputs.notes,
            *unread_engines(request.inputs.manifests),
            *unchecked(request.inputs.manifests, request.surroundings.asked),
            *_unused(request, used),
        ),
        counts=_counts(request, policies, known=len(found) - len(findings)),
        texts={one.place.file: text for one in findings if (text := one.manifest.text_of(one.place.file))},
    )


def _placed(stumble: Stumble, policies: PolicySet) -> Stumble:
    """A stumble with the place of the expression, where the policy is the user's own."""
    source = policies.added.get(stumble.policy.id)
    if source is None:
        return stumble
    return replace(stumble, place=Place(file=str(source.path), position=source.document.position((stumble.key,))))


def _malformed(stumbles: Iterable[Stumble], minors: Sequence[str]) -> set[int]:
    """The objects among them that are not what their kind is: an expression may expect the right types."""
    objects = {id(one.manifest): one.manifest for one in stumbles}
    return {key for key, manifest in objects.items() if faults(manifest, minors)}


def _broken(stumble: Stumble) -> Untold:
    return Untold(
        policy=stumble.policy,
        manifest=stumble.manifest,
        because="the object has values of wrong types",
        run="chartgen lint again, once they are right",
    )


def _by_scope(policies: Iterable[Policy], given: Given) -> dict[Scope, list[Rule]]:
    rules: dict[Scope, list[Rule]] = defaultdict(list)
    for policy in policies:
        rules[policy.scope].append(Rule(policy, given))
    return rules


def _bundles(manifests: Iterable[Manifest]) -> list[Bundle]:
    groups: dict[str, list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        groups[manifest.group].append(manifest)
    return [Bundle(name, members) for name, members in groups.items()]


def _judge_bundle(views: Views, rules: Mapping[Scope, Sequence[Rule]], surroundings: Surroundings, said: _Said) -> None:
    cluster = surroundings.cluster
    for scope, of_scope in rules.items():
        if scope == "document":
            continue
        for subject in subjects(scope, views):
            for rule in of_scope:
                said.add(rule, subject, cluster)


def _finding(policy: Policy, manifest: Manifest, problem: Problem) -> Finding:
    place = manifest.place(problem.path)
    if problem.line is not None:
        place = Place(file=place.file, position=Position(line=problem.line, column=1))
    return Finding(
        policy=policy,
        manifest=manifest,
        path=problem.path,
        message=problem.message,
        place=place,
        edit=_edit(manifest, problem.change),
    )


def _edit(manifest: Manifest, change: Change | None) -> Splice | None:
    if change is None:
        return None
    if change.value is None:
        return fix.removal(manifest, change.path)
    return fix.setting(manifest, change.path, change.value)


def _order(finding: Finding) -> tuple[Any, ...]:
    place = finding.place
    return (place.file, place.position, finding.policy.id, finding.message)


def _unused(request: Request, used: set[int]) -> Iterator[str]:
    for index, entry in enumerate(request.allowances):
        if entry.until is not None and entry.until < request.today:
            yield f"the allowance of {entry.policy} ended on {entry.until}: {entry.reason}"
        elif index not in used:
            yield f"the allowance of {entry.policy} in the configuration matches nothing: {entry.reason}"


def _counts(request: Request, policies: Sequence[Policy], *, known: int) -> Counts:
    inputs = request.inputs
    files = {manifest.file for manifest in inputs.manifests} | {one.problem.file for one in inputs.unread}
    fates = [one.fate for one in inputs.unread]
    return Counts(
        files=len(files),
        parsed=len(inputs.manifests),
        skipped=fates.count("skipped"),
        failed=fates.count("failed"),
        policies=len(policies),
        known=known,
    )
