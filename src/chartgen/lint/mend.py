"""Safe edits into files: all of them or none, and then a second look, at what is left."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from chartgen.kernel.errors import InputError, InputProblem
from chartgen.kernel.output import write_files
from chartgen.lint.documents import read_manifests
from chartgen.lint.finding import Finding, Outcome
from chartgen.lint.inputs import STDIN
from chartgen.lint.manifest import Inputs, Manifest, Unread
from chartgen.lint.run import Request, lint


def is_editable(file: str) -> bool:
    """Whether edits can be written: not into a stream, nor into what a program made."""
    return file != STDIN and Path(file).is_file()


def mend(request: Request, said: Outcome, texts: Mapping[str, tuple[str, str]]) -> Outcome:
    """Write files anew, and say what is left, with a note of what was mended.

    Args:
        request: what was asked.
        said: what was found.
        texts: each file that can be edited, with its text before and after the edits.

    Raises:
        InputError: a file cannot be written, or is another than was read; then none is written.
    """
    contents, problems = {}, []
    for file, (before, after) in texts.items():
        content = Path(file).read_bytes()
        mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        if content == mark + before.encode():
            contents[Path(file)] = mark + after.encode()
        else:
            problems.append(_changed(file))
    if problems:
        raise InputError(problems)
    write_files(contents)
    notes = tuple(left_alone(said.findings))
    if not texts:
        return replace(said, notes=(*said.notes, *notes, "--fix changed no file"))
    left = lint(
        replace(request, inputs=_read_anew(request.inputs, {file: after for file, (_, after) in texts.items()}))
    )
    still = {(finding.place.file, finding.fingerprint) for finding in left.findings}
    mended = {(one.place.file, one.fingerprint) for one in said.findings if one.edit is not None} - still
    files = f"{len(texts)} file{'' if len(texts) == 1 else 's'}"
    done = f"--fix mended {len(mended)} finding{'' if len(mended) == 1 else 's'} in {files}; this is what is left"
    return replace(left, notes=(*left.notes, *notes, done))


def left_alone(findings: Iterable[Finding]) -> Iterator[str]:
    """Why findings whose policy has an edit are not edited."""
    without = [one for one in findings if one.policy.edit is not None]
    made = sum(one.manifest.origin is not None or _is_built(one) for one in without)
    other = sum(one.edit is None and one.manifest.origin is None for one in without)
    for number, where in ((made, "in what Helm or kustomize made"), (other, "where an edit would move other lines")):
        if number:
            yield f"{number} of the findings with a known edit stand{'s' if number == 1 else ''} {where}: edit by hand"


def _is_built(finding: Finding) -> bool:
    file = finding.manifest.file
    return finding.edit is not None and file != STDIN and not Path(file).exists()


def _read_anew(inputs: Inputs, texts: Mapping[str, str]) -> Inputs:
    """The inputs with other texts in some of their files."""
    manifests = [one for one in inputs.manifests if one.file not in texts]
    unread = [one for one in inputs.unread if one.problem.file not in texts]
    for file, text in texts.items():
        for found in read_manifests(text, file, str(Path(file).parent)):
            match found:
                case Manifest():
                    manifests.append(found)
                case Unread():
                    unread.append(found)
    return replace(inputs, manifests=tuple(manifests), unread=tuple(unread))


def _changed(file: str) -> InputProblem:
    expected = "what was judged: run chartgen lint again"
    return InputProblem(file=file, position=None, path="", found="a file that changed meanwhile", expected=expected)
