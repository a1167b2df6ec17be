"""The second opinion: kubeconform, an independent Go program, on the same objects and the same schema folder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from chartgen.kernel.dataclass import dataclass
from chartgen.kernel.yaml_source import Step
from chartgen.validate import library
from chartgen.validate.problem import Code, SchemaProblem

TIMEOUT: Final = 120
"""Seconds after which kubeconform is given up."""

_FILE: Final = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"
_LINE: Final = re.compile(r"( +)- at '((?:[^'\\]|\\.)*)': (.*?)(?= +- at '|$)")
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'")
_CHOICES: Final = ("'anyOf' failed", "'oneOf' failed")
_NO_SCHEMA: Final = "could not find schema"


_RAW: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that JSON may hold as they are and YAML may not, or takes for a line break."""


class KubeconformError(Exception):
    """kubeconform could not be run or gave no answer; its own words."""


class KubeconformMissing(KubeconformError):  # noqa: N818 - named as its sibling HelmMissing
    """kubeconform was asked for and is not there."""

    def __init__(self) -> None:
        super().__init__("kubeconform is not on PATH: scripts/tools install kubeconform")


def find() -> Path | None:
    """The kubeconform command on PATH, or None."""
    found = shutil.which("kubeconform")
    return Path(found) if found else None


def check_objects(
    binary: Path, objects: Iterable[tuple[str, Mapping[str, Any]]], kubernetes: str
) -> list[SchemaProblem]:
    """What `kubeconform -strict` finds, in the terms of the embedded check.

    Args:
        binary: the kubeconform command.
        objects: pairs of a source and a parsed object, as for the embedded check.
        kubernetes: the minor: 1.34.

    Raises:
        UnknownName: there are no schemas for `kubernetes`.
        KubeconformError: kubeconform could not be run or gave no answer.
    """
    release = library.release(kubernetes)
    subjects = [subject for source, content in objects for subject in _unfold(source, content, ())]
    if not subjects:
        return []
    answers = _run(binary, [subject.content for subject in subjects], release.folder.removeprefix("v"))
    if len(answers) != len(subjects):
        raise KubeconformError(f"{binary} answered for {len(answers)} of {len(subjects)} objects")
    return [problem for subject, answer in zip(subjects, answers, strict=True) for problem in subject.problems(answer)]


@dataclass(frozen=True, slots=True)
class _Subject:
    source: str
    content: Any
    prefix: tuple[Step, ...]

    def problems(self, answer: Mapping[str, str]) -> Iterator[SchemaProblem]:
        status, message = answer["status"], answer["msg"]
        if status == "statusInvalid":
            for path, code, text in _leaves(message, self.content):
                yield self._problem(answer, path, code, text)
        elif status == "statusSkipped" or message.startswith(_NO_SCHEMA):
            yield self._problem(answer, ("kind",), "unknown-kind", f"not checked: {message or 'skipped'}")
        elif status != "statusValid":
            yield self._problem(answer, (), "no-object", message or "an empty document")

    def _problem(self, answer: Mapping[str, str], path: tuple[Step, ...], code: Code, message: str) -> SchemaProblem:
        return SchemaProblem(
            source=self.source,
            api_version=answer["version"],
            kind=answer["kind"],
            name=answer["name"],
            path=(*self.prefix, *path),
            code=code,
            message=message,
        )


def _unfold(source: str, content: Any, prefix: tuple[Step, ...]) -> Iterator[_Subject]:
    """The objects of a `List` one by one: kubeconform unfolds them too, and its answers are counted."""
    if isinstance(content, dict) and content.get("kind") == "List" and isinstance(content.get("items"), list):
        for position, entry in enumerate(content["items"]):
            yield from _unfold(source, entry, (*prefix, "items", position))
    else:
        yield _Subject(source, content, prefix)


def _run(binary: Path, contents: Sequence[Any], version: str) -> list[Mapping[str, str]]:
    locations = [f"{library.FOLDER}/{{{{.NormalizedKubernetesVersion}}}}/{_FILE}", f"{library.FOLDER}/custom/{_FILE}"]
    options = [f"-schema-location={location}" for location in locations]
    try:
        answer = subprocess.run(  # noqa: S603 - the caller's own kubeconform; no shell
            [binary, "-strict", "-verbose", "-n=1", "-output=json", f"-kubernetes-version={version}", *options],
            input="\n---\n".join(map(_as_yaml, contents)),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=TIMEOUT,
        )
        resources: list[Mapping[str, str]] = json.loads(answer.stdout)["resources"]
    except subprocess.TimeoutExpired as error:
        raise KubeconformError(f"{binary} gave no answer in {TIMEOUT} s") from error
    except OSError as error:
        raise KubeconformError(f"{binary} cannot be run: {error}") from error
    except (ValueError, KeyError) as error:
        raise KubeconformError(f"{binary}: {answer.stderr.strip() or answer.stdout.strip()}") from error
    return resources


def _as_yaml(content: Any) -> str:
    """An object as JSON that a YAML reader takes for the same: YAML has no surrogate pairs as JSON escapes them."""
    text = json.dumps(content, ensure_ascii=False)
    return _RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _leaves(message: str, content: Any) -> Iterator[tuple[tuple[Step, ...], Code, str]]:
    """The innermost lines of kubeconform's indented report; what lies inside a choice belongs to the choice."""
    lines = [(len(match[1]), match[2], match[3].strip()) for match in _LINE.finditer(message)]
    choice: int | None = None
    for number, (depth, pointer, text) in enumerate(lines):
        if choice is not None and depth > choice:
            continue
        choice = None
        inner = [line for _, _, line in _below(lines, number, depth)]
        path = _steps(pointer, content)
        if text.startswith(_CHOICES):
            choice = depth
            yield path, _code(inner), f"{text}: {'; '.join(inner)}"
        elif not inner:
            yield from _split(path, text)


def _below(lines: Sequence[tuple[int, str, str]], number: int, depth: int) -> Iterator[tuple[int, str, str]]:
    for line in lines[number + 1 :]:
        if line[0] <= depth:
            return
        yield line


def _split(path: tuple[Step, ...], text: str) -> Iterator[tuple[tuple[Step, ...], Code, str]]:
    if text.startswith("additional properties"):
        for name in _QUOTED.findall(text):
            yield (*path, name), "unknown-field", text
    elif text.startswith(("missing property", "missing properties")):
        for _ in _QUOTED.findall(text):
            yield path, "missing", text
    else:
        yield path, _code([text]), text


def _code(texts: Sequence[str]) -> Code:
    if all(text.startswith("got null") for text in texts):
        return "null"
    return "type" if all(text.startswith("got ") for text in texts) else "value"


def _steps(pointer: str, content: Any) -> tuple[Step, ...]:
    """A JSON pointer as steps: an index where the object has a list, a key elsewhere."""
    steps: list[Step] = []
    for part in pointer.split("/")[1:]:
        step: Step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(content, list):
            step = int(part)
            content = content[step]
        else:
            content = content.get(step) if isinstance(content, dict) else None
        steps.append(step)
    return tuple(steps)
