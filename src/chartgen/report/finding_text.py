"""Findings for people: each with its line of the file, the reason in a sentence, and what to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from chartgen.kernel.yaml_source import Text
from chartgen.lint.finding import Finding, Outcome
from chartgen.policy.types import SEVERITIES
from chartgen.report.findings import Style
from chartgen.report.problems import problem_line

_COLORS: Final = {"error": "31", "warning": "33", "advice": "36", "dim": "2", "bold": "1"}


def write(outcome: Outcome, style: Style) -> str:
    """The findings with code frames, then what was not judged, then the counts."""
    return "\n".join(_lines(outcome, style)) + "\n"


def _lines(outcome: Outcome, style: Style) -> Iterator[str]:
    for finding in outcome.findings:
        yield from _finding(finding, outcome.texts, style)
        yield ""
    if "allowed" in style.show:
        for one in outcome.allowed:
            where = _where(one.finding)
            yield f"allowed[{one.finding.policy.id}] {where}: {one.finding.message} ({one.by}: {one.reason})"
    if "unknown" in style.show:
        for question in outcome.untold:
            yield f"cannot tell[{question.policy.id}] {question.manifest}: {question.because}"
            yield f"  run: {question.run}"
    for unread in outcome.unread:
        yield f"{unread.fate}: {problem_line(unread.problem)}"
    for stumble in outcome.stumbles:
        place = stumble.place
        where = f"{place.file}:{place.position.line}:{place.position.column}: " if place else ""
        yield f"{where}stumbled[{stumble.policy.id}] {stumble.manifest}: {stumble.text}"
    for note in outcome.notes:
        yield f"note: {note}"
    yield _summary(outcome)


def _where(finding: Finding) -> str:
    position = finding.place.position
    return f"{finding.place.file}:{position.line}:{position.column}"


def _finding(finding: Finding, texts: Mapping[str, Text], style: Style) -> Iterator[str]:
    policy = finding.policy
    head = _paint(f"{policy.severity}[{policy.id}]", policy.severity, style)
    yield f"{head} {_paint(finding.message, 'bold', style)}"
    note = f" ({finding.place.note})" if finding.place.note else ""
    yield f"  --> {_where(finding)}  {finding.manifest}{note}"
    yield from _frame(finding, texts, style)
    yield f"  fix: {' '.join(policy.fix.split())}"


def _frame(finding: Finding, texts: Mapping[str, Text], style: Style) -> Iterator[str]:
    """The line itself, with a mark under the entry."""
    text = texts.get(finding.place.file)
    position = finding.place.position
    if text is None or position.line > len(text.line_starts):
        return
    start = text.line_starts[position.line - 1]
    line = text.content[start:].split("\n", 1)[0].rstrip("\r")
    end = finding.place.end
    width = len(line) - position.column + 1
    if end is not None and end.line == position.line:
        width = end.column - position.column
    number = str(position.line)
    yield _paint(f"{' ' * len(number)} |", "dim", style)
    yield f"{_paint(number + ' |', 'dim', style)} {line}"
    mark = " " * (position.column - 1) + _paint("^" * max(width, 1), finding.policy.severity, style)
    yield f"{_paint(' ' * len(number) + ' |', 'dim', style)} {mark}"


def _paint(text: str, name: str, style: Style) -> str:
    return f"\x1b[{_COLORS[name]}m{text}\x1b[0m" if style.color else text


def _summary(outcome: Outcome) -> str:
    counts = outcome.counts
    severities = Counter(finding.policy.severity for finding in outcome.findings)
    found = ", ".join(_count(severities[name], name) for name in reversed(SEVERITIES) if severities[name])
    read = f"{_count(counts.parsed, 'object')} in {_count(counts.files, 'file')}"
    judged = f"{read} judged by {_count(counts.policies, 'policy')}"
    parts = [found or ("nothing found" if counts.parsed else "nothing to judge"), judged]
    for number, word in (
        (counts.skipped, "skipped"),
        (counts.failed, "failed to parse"),
        (len(outcome.allowed), "allowed"),
        (counts.known, "in the baseline"),
        (len(outcome.untold), "cannot be told from files (--show unknown)"),
    ):
        if number:
            parts.append(f"{number} {word}")
    return "; ".join(parts)


def _count(number: int, word: str) -> str:
    if number == 1 or word == "advice":
        return f"{number} {word}"
    return f"{number} {word.removesuffix('y')}ies" if word.endswith("y") else f"{number} {word}s"
